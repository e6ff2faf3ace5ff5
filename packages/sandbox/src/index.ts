export { checkHost } from './egress/check-host.ts';
export type { Dial } from './egress/dial-checked.ts';
export { EgressRecord } from './egress/egress-record.ts';
export { parseHostPattern } from './egress/host-pattern.ts';
export { HostRefused } from './egress/host-refused.ts';
export { Outlet } from './egress/outlet.ts';
export { HostSyntaxError, parseHostName, parseNamedHost } from './egress/parse-host.ts';
export type { NamedHost } from './egress/parse-host.ts';
export { resolveBySystem, resolveChecked } from './egress/resolve-checked.ts';
export type { Resolve } from './egress/resolve-checked.ts';
export { findCompileCache, keepCompiledCode } from './compile-cache.ts';
export { loadForeignFunctions } from './foreign-functions.ts';
export { hasCode } from './has-code.ts';
export { giveBackMemory } from './memory/give-back-memory.ts';
export { isWithin } from './is-within.ts';
export { runtimeFolder } from './launch/check-mount.ts';
export { canEnter, chooseUser, explainUnwritable, unprivilegedUser } from './launch/choose-user.ts';
export { installCommand } from './launch/explain-sandbox.ts';
export { NetworkLog } from './network-log.ts';
export type { NetworkEvent } from './network-log.ts';
export { defaultProgramLimits, ProgramLost, programLimitNames, ProgramNotStarted } from './program.ts';
export type {
  Access,
  Mount,
  OpenProgram,
  Program,
  ProgramEnd,
  ProgramLimits,
  ProgramOpener,
  ProgramRunner,
  ProgramUsage,
  RunOptions,
} from './program.ts';
export type { Abilities } from './spawner/messages.ts';
export { OutputTail } from './spawner/output-tail.ts';
export { SpawnerClient } from './spawner/spawner-client.ts';
