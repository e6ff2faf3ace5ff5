import type { Door } from '../../call/call.ts';
import type { RedactText } from '../../call/redacted.ts';
import { bindPort, bindSocket } from './bind-door.ts';
import { BodyRoom } from './body-room.ts';
import type { Callers } from './peer.ts';
import { checkOriginAtPort, checkOriginAtSocket } from './check-origin.ts';
import type { OriginCheck } from './check-origin.ts';
import type { DoorContext } from './door-context.ts';
import { DoorListener } from './door-listener.ts';
import { bindHealth, routeHealth } from './health-service.ts';
import type { ReadHealth } from './health-service.ts';
import { tabulateRoutes } from './http-route.ts';
import type { HttpRoute } from './http-route.ts';
import { tabulateMethods } from './method-table.ts';
import { bindReflection } from './reflection-service.ts';
import type { TransportLog } from './rpc-error.ts';
import type { ServiceBinding } from './service-binding.ts';
import { defaultLimits } from './transport-limits.ts';
import type { TransportLimits } from './transport-limits.ts';

export interface DoorOptions {
  readonly services: readonly ServiceBinding[];
  readonly routes?: readonly HttpRoute[];
  /** Absent: only the sockets are served. Port 0 takes a free one. */
  readonly tcp?: { readonly host: string; readonly port: number };
  /** Paths. The folders exist, only their owner may enter them, and no living daemon listens there. */
  readonly operatorSocket: string;
  readonly agentSocket: string;
  /** The group whose users may connect to it as well. Absent: only its owner may. */
  readonly agentGroup?: string;
  /** Names other than those of loopback by which clients may address the TCP port. */
  readonly allowedHosts?: readonly string[];
  readonly callers: Callers;
  readonly health: ReadHealth;
  /** How often a watched health is read again. Absent: every second. */
  readonly healthPollMs?: number;
  readonly limits?: Partial<TransportLimits>;
  readonly log: TransportLog;
  /** For the texts of errors, which may quote the caller. */
  readonly redact: RedactText;
}

export interface Doors {
  /** `http://127.0.0.1:4780`. Undefined without TCP. */
  readonly address: string | undefined;
  readonly port: number | undefined;
  /** Stops accepting, lets what is open finish for `graceMs`, cuts the rest, and removes the socket files. */
  readonly close: (graceMs: number) => Promise<void>;
}

/** How the connections are divided, so that no crowd at one door shuts another. Few people operate one gate. */
const shares: Readonly<Record<Door, number>> = { tcp: 1 / 2, 'agent-socket': 3 / 8, 'operator-socket': 1 / 8 };
const fewestPlaces = 4;

/** Opens all doors or none. Throws ConfigError when one cannot be opened. */
export async function openDoors(options: DoorOptions): Promise<Doors> {
  const limits = { ...defaultLimits, ...options.limits };
  const describeDoor = planDoors(options, limits);
  const listeners: DoorListener[] = [];
  const open = (door: Door): DoorListener => {
    const listener = new DoorListener(
      door,
      limits,
      Math.max(fewestPlaces, Math.floor(limits.maxConnections * shares[door])),
    );
    listeners.push(listener);
    return listener;
  };
  const close = async (graceMs: number) => {
    await Promise.all(listeners.map((listener) => listener.close(graceMs)));
  };

  try {
    const operator = open('operator-socket');
    await bindSocket(operator, options.operatorSocket);
    operator.serve(describeDoor('operator-socket', checkOriginAtSocket));
    const agent = open('agent-socket');
    await bindSocket(agent, options.agentSocket, options.agentGroup);
    agent.serve(describeDoor('agent-socket', checkOriginAtSocket));
    if (options.tcp === undefined) return { address: undefined, port: undefined, close };

    const tcp = open('tcp');
    const { host } = options.tcp;
    const port = await bindPort(tcp, host, options.tcp.port);
    tcp.serve(describeDoor('tcp', checkOriginAtPort(port, options.allowedHosts)));
    return { address: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** Adds health and reflection, which tell of a door only what is served there, and sorts everything by door. */
function planDoors(options: DoorOptions, limits: TransportLimits): (door: Door, origin: OriginCheck) => DoorContext {
  const servicesAt = (door: Door) => services.filter(({ doors }) => doors.includes(door));
  const namesAt = (door: Door) => servicesAt(door).map(({ service }) => service.typeName);
  const services: ServiceBinding[] = [
    ...options.services,
    bindHealth(options.health, namesAt, options.healthPollMs ?? 1000),
    ...bindReflection(servicesAt),
  ];
  const routes = [routeHealth(options.health), ...(options.routes ?? [])];
  const room = new BodyRoom({
    maxBytes: limits.maxBufferedBytes,
    maxBytesPerOwner: Math.floor(limits.maxBufferedBytes / 4),
    maxSmallBytes: limits.maxSmallBytes,
    maxWaitMs: limits.roomWaitMs,
  });
  return (door, origin) => ({
    methods: tabulateMethods(services, door),
    routes: tabulateRoutes(routes, door),
    origin,
    limits,
    room,
    callers: options.callers,
    log: options.log,
    redact: options.redact,
  });
}
