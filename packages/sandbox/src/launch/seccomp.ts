import {
  allow,
  failWith,
  ifAnyBit,
  ifEqual,
  ifGreater,
  keepBits,
  killProcess,
  loadArchitecture,
  loadArgument,
  loadSystemCall,
  packProgram,
  unlessEqual,
} from './bpf.ts';
import type { Instruction } from './bpf.ts';
import { lastKnownCall, numberOf } from './system-calls.ts';
import type { Architecture, SystemCall } from './system-calls.ts';

type Block = readonly Instruction[];

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

const auditNames: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** Programs fall back to the older calls, whose arguments can be looked at; no filter sees what is behind a pointer. */
const missingCalls: readonly SystemCall[] = [
  'clone3',
  'openat2',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
];

const forbiddenCalls: readonly SystemCall[] = [
  // Other processes.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'process_madvise',
  'kcmp',
  'pidfd_getfd',
  // Large parts of the kernel that no tool needs.
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'fanotify_init',
  'modify_ldt',
  'lookup_dcookie',
  'uselib',
  'nfsservctl',
  // Keys are shared by all processes of a user.
  'add_key',
  'request_key',
  'keyctl',
  // What the program sees of the machine.
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'setns',
  'unshare',
  'name_to_handle_at',
  'open_by_handle_at',
  // The machine itself.
  'init_module',
  'finit_module',
  'delete_module',
  'kexec_load',
  'kexec_file_load',
  'reboot',
  'swapon',
  'swapoff',
  'acct',
  'quotactl',
  'quotactl_fd',
  'syslog',
  'settimeofday',
  'clock_settime',
  'sethostname',
  'setdomainname',
  'iopl',
  'ioperm',
  'vhangup',
];

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. NEWTIME shares its bit with the exit signal. */
const namespaceFlags = 0x7e02_0000;
/** TIOCSTI types into a terminal, TIOCLINUX pastes into a console, TIOCSETD loads drivers. */
const terminalRequests = [0x5412, 0x541c, 0x5423];
/**
 * FS_IOC_RESVSP, UNRESVSP, RESVSP64, UNRESVSP64 and ZERO_RANGE, which do the same as fallocate: take space of a disk in
 * an instant, without a byte written that the kernel would count. Programs write zeros where a disk cannot do that.
 */
const reservingRequests = [0x4030_5828, 0x4030_5829, 0x4030_582a, 0x4030_582b, 0x4030_5839];
/** O_CREAT and the bit that makes O_TMPFILE: without them the kernel does not look at the mode. */
const creatingFlags = 0x40_0040;
/** Set user and set group. A file with them, in a folder of the machine, gives its owner's rights to others. */
const identityBits = 0o6000;
const fileTypeMask = 0o170000;
const deviceTypes = [0o020000, 0o060000];
const family = { unix: 1, inet: 2, inet6: 10 } as const;
/** Without the flags for blocking and closing. */
const socketTypeMask = 0xf;
const socketType = { stream: 1, datagram: 2, packets: 5 } as const;
/** None in particular, TCP and UDP. */
const protocols = [0, 6, 17];

const packed = new Map<string, Uint8Array>();

/** What a rule can loosen. */
export interface LooseCalls {
  /** Absent: no unix socket but streams in pairs. */
  readonly unixSockets?: boolean;
}

/**
 * The program that the kernel runs before each system call of a confined process. It narrows a sandbox that confines
 * already, so it names what is forbidden; calls that did not exist when it was written do not exist inside.
 */
export function packSeccompProgram(architecture: Architecture, { unixSockets = false }: LooseCalls = {}): Uint8Array {
  const key = `${architecture} ${unixSockets}`;
  const known = packed.get(key);
  if (known !== undefined) return known;
  const inCall = (call: SystemCall, block: Block): Block => {
    const number = numberOf(call, architecture);
    return number === undefined ? [] : ifEqual(number, block);
  };
  const program = packProgram([
    loadArchitecture,
    // A 32-bit call has other numbers, so everything below would apply to other calls.
    ...unlessEqual(auditNames[architecture], [killProcess]),
    loadSystemCall,
    // Includes x32, whose numbers start at 2^30.
    ...ifGreater(lastKnownCall, [failWith(ENOSYS)]),
    ...missingCalls.flatMap((call) => inCall(call, [failWith(ENOSYS)])),
    ...forbiddenCalls.flatMap((call) => inCall(call, [failWith(EPERM)])),
    ...inCall('clone', forbidBits(0, namespaceFlags)),
    ...inCall('fallocate', [failWith(EOPNOTSUPP)]),
    ...inCall('ioctl', [...failOn(1, reservingRequests, EOPNOTSUPP), ...failOn(1, terminalRequests, EPERM), allow]),
    ...inCall('personality', allowOnlyStandardPersonality()),
    ...inCall('chmod', forbidBits(1, identityBits)),
    ...inCall('fchmod', forbidBits(1, identityBits)),
    ...inCall('fchmodat', forbidBits(2, identityBits)),
    ...inCall('fchmodat2', forbidBits(2, identityBits)),
    ...inCall('creat', forbidBits(1, identityBits)),
    ...inCall('mkdir', forbidBits(1, identityBits)),
    ...inCall('mkdirat', forbidBits(2, identityBits)),
    ...inCall('open', forbidCreatingWithIdentity({ flags: 1, mode: 2 })),
    ...inCall('openat', forbidCreatingWithIdentity({ flags: 2, mode: 3 })),
    ...inCall('mknod', forbidNode(1)),
    ...inCall('mknodat', forbidNode(2)),
    ...inCall('socket', [...(unixSockets ? allowUnixSockets() : []), ...allowSomeSockets()]),
    ...inCall('socketpair', unixSockets ? [...allowUnixSockets(), failWith(EAFNOSUPPORT)] : allowStreamPairs()),
    allow,
  ]);
  packed.set(key, program);
  return program;
}

function forbidBits(argument: number, mask: number): Block {
  return [loadArgument(argument), ...ifAnyBit(mask, [failWith(EPERM)]), allow];
}

function failOn(argument: number, values: readonly number[], errno: number): Block {
  return [loadArgument(argument), ...values.flatMap((value) => ifEqual(value, [failWith(errno)]))];
}

function forbidCreatingWithIdentity({ flags, mode }: { readonly flags: number; readonly mode: number }): Block {
  const checkMode = [loadArgument(mode), ...ifAnyBit(identityBits, [failWith(EPERM)])];
  return [loadArgument(flags), ...ifAnyBit(creatingFlags, checkMode), allow];
}

function forbidNode(mode: number): Block {
  return [
    loadArgument(mode),
    ...ifAnyBit(identityBits, [failWith(EPERM)]),
    keepBits(fileTypeMask),
    ...deviceTypes.flatMap((type) => ifEqual(type, [failWith(EPERM)])),
    allow,
  ];
}

/** Others switch off the randomness of addresses, or make data executable. */
function allowOnlyStandardPersonality(): Block {
  const [standard, query] = [0, 0xffff_ffff];
  return [loadArgument(0), ...ifEqual(standard, [allow]), ...ifEqual(query, [allow]), failWith(EPERM)];
}

/**
 * Internet sockets live in the program's own network, where nothing but itself and the gate's proxy can be reached.
 * A unix socket would reach the sockets of the machine that lie in a folder the program sees.
 */
function allowSomeSockets(): Block {
  const checkKind = [
    loadArgument(1),
    keepBits(socketTypeMask),
    ...unlessEqual(socketType.stream, unlessEqual(socketType.datagram, [failWith(EPERM)])),
    loadArgument(2),
    ...protocols.flatMap((protocol) => ifEqual(protocol, [allow])),
    failWith(EPERM),
  ];
  return [
    loadArgument(0),
    ...ifEqual(family.inet, checkKind),
    ...ifEqual(family.inet6, checkKind),
    failWith(EAFNOSUPPORT),
  ];
}

/** For programs whose rule says that they may reach the sockets in the folders they see. */
function allowUnixSockets(): Block {
  const checkType = [
    loadArgument(1),
    keepBits(socketTypeMask),
    ...Object.values(socketType).flatMap((type) => ifEqual(type, [allow])),
    failWith(EPERM),
  ];
  return [loadArgument(0), ...ifEqual(family.unix, checkType)];
}

/** A datagram socket of a pair can still send to any address. */
function allowStreamPairs(): Block {
  return [
    loadArgument(0),
    ...unlessEqual(family.unix, [failWith(EAFNOSUPPORT)]),
    loadArgument(1),
    keepBits(socketTypeMask),
    ...unlessEqual(socketType.stream, [failWith(EPERM)]),
    allow,
  ];
}
