/** What Sallyport promises, by area. Tests cite the ids; the coverage report says which promises nobody has proved. */
export const requirementAreas = [
  {
    area: 'DEF',
    title: 'Definitions and registry',
    requirements: {
      'DEF-1': 'a definition carries names, schemas, risk, confirmation, scopes, modes and limits',
      'DEF-2': 'the parameter-list form becomes JSON Schema, and defaults apply before validation',
      'DEF-3': 'the registry finds by name, alias, mode, category and tag; a new tool touches no core file',
      'DEF-4': 'the tools of a session export as OpenAI, Anthropic and MCP descriptors',
      'DEF-5': 'an unknown tool is an audited denial that suggests near names',
      'DEF-6': 'definitions are pinned: new and changed tools wait for an operator, and the accepted bytes run',
      'DEF-7': 'versions live side by side, `tool@version` picks one, the newest accepted is the default',
      'DEF-8': 'a YAML entry with an argv template and a schema is a tool',
      'DEF-9': 'a YAML chain of tools is a tool, and each step passes the whole gateway',
    },
  },
  {
    area: 'PIPE',
    title: 'The one way in',
    requirements: {
      'PIPE-1': 'each door leads through the same stages in the same order to the only executor',
      'PIPE-2': 'nothing is allowed by default, and a gate that errs denies',
      'PIPE-3': 'arguments have one canonical form: judged, approved and executed are the same JSON',
      'PIPE-4': 'a denial names its rule, a machine code, a sentence and a remedy',
      'PIPE-5': 'one request, one response with its id, after the record is committed',
      'PIPE-6':
        'a dedupe key returns the first success, conflicts are told apart, and what may have begun keeps its key',
      'PIPE-7': 'cancelling or hanging up ends the run on record; progress reaches who asks',
      'PIPE-8': 'the same call with the same result and no change in between is warned about, delayed, refused',
      'PIPE-9': 'operators read which rule to change, agents why, what else they may do, and the call id',
      'PIPE-10':
        'whatever ends a running call answers its caller and records who ended it; calls can be listed and cancelled',
    },
  },
  {
    area: 'MODE',
    title: 'Governance and modes',
    requirements: {
      'MODE-1': 'five modes, one authority, read on every call',
      'MODE-2': 'only the drawn edges between modes exist, and people alone leave the closed ones',
      'MODE-3': 'exhausted resources fail calls gracefully and degrade the mode',
      'MODE-4': 'limits per mode, effective on the next call, lockdown stops what mutates',
      'MODE-5': 'rules come from YAML, errors name file and line, nothing opens the own files of the gate',
      'MODE-6': 'example calls inside a rule must hold before it loads',
      'MODE-7': 'rules can be explained, tested, replayed and run in shadow',
    },
  },
  {
    area: 'PERM',
    title: 'Sessions, leases, permissions',
    requirements: {
      'PERM-1': 'only a live session with its own credential may call; two installs, honestly labelled',
      'PERM-2': 'a lease narrows tools, paths, hosts, commands, time and budget, and never widens',
      'PERM-3': 'roles with defaults, granted and revoked, inherited from organisation to agent',
      'PERM-4': 'budgets are counted, reported and enforced',
      'PERM-5': 'a session with too many violations is quarantined',
    },
  },
  {
    area: 'APPR',
    title: 'Approval and confirmation',
    requirements: {
      'APPR-1': 'the risk of a call decides whether and by whom it must be confirmed',
      'APPR-2': 'a call that needs a person becomes a task that shows its exact effect',
      'APPR-3': 'the right senior decides, never the requester; nobody there means no',
      'APPR-4': 'approvers are notified and everyone can follow the status live',
      'APPR-5': 'silence denies in time, reminds once, and survives restarts',
      'APPR-6': 'an approval fits exactly one call and the files it was shown for, and is used up once',
      'APPR-7': 'confirm tokens are signed, scoped, short-lived, and fail in distinct ways',
      'APPR-8': 'a plan is shown whole, and one token covers its agreed calls in order',
      'APPR-9': 'standing approvals are bounded, listed, revocable; equal requests share a card',
      'APPR-10': 'a decision can ask for changes in words',
      'APPR-11': 'nothing that runs is invisible on the card, and what is bound is compared with what is opened',
      'APPR-12': 'a decision can be a passkey assertion over the effect shown, checked by verification',
    },
  },
  {
    area: 'RATE',
    title: 'Limits',
    requirements: {
      'RATE-1': 'limits per agent and tool over minute, hour and day, by profile and role',
      'RATE-2': 'check and reserve is one exact step, durable, beside a limit on attempts',
      'RATE-3': 'over the limit says when to come back; abuse is reported',
      'RATE-4': 'a check is far cheaper than the call it guards',
    },
  },
  {
    area: 'WIRE',
    title: 'Protocol',
    requirements: {
      'WIRE-1': 'the typed protobuf request and response keep their fields and tags',
      'WIRE-2': 'all invariants of the typed protocol hold, and violations come all at once',
      'WIRE-3': 'encoding is deterministic and hostile bytes give an error',
      'WIRE-4': 'gRPC, gRPC-Web and Connect on one port and a socket, with health and reflection',
      'WIRE-5': 'an MCP server over HTTP and stdio that passes conformance',
      'WIRE-6': 'upstream MCP servers, namespaced, pinned, reaped, independent of each other',
      'WIRE-7': 'large results go to the content store and are returned by hash',
      'WIRE-8': 'each documented message form is one adapter over the same outcome',
    },
  },
  {
    area: 'EXEC',
    title: 'Execution and sandbox',
    requirements: {
      'EXEC-1': 'executables run once per call in a sandbox that shows only what was declared',
      'EXEC-2': 'limits end the call distinctly; one that cannot be enforced refuses it or is named',
      'EXEC-3': 'timeout, cancel, stop and crash leave no process behind',
      'EXEC-4': 'usage is measured or absent, never invented',
      'EXEC-5': 'a crash of a tool or of the executor harms no other call',
      'EXEC-6': 'without a sandbox, tools that need one are refused with the remedy',
      'EXEC-7': 'file tools judge what is really open, whatever links and races say, and write atomically',
      'EXEC-8': 'only safe transient failures are retried, once; failures have categories',
      'EXEC-9': 'file mutations can be undone by a governed call',
      'EXEC-10': 'network tools pass an egress gate that rechecks names, addresses and redirects',
    },
  },
  {
    area: 'BIN',
    title: 'Executables as tools',
    requirements: {
      'BIN-1': 'the tools folder is scanned quickly and watched while running',
      'BIN-2': 'one contract: `--schema`, JSON in, JSON out, exit code',
      'BIN-3': 'binaries without schema, missing or broken are listed as such',
      'BIN-4': 'no server, port or start command per tool',
      'BIN-5': 'an SDK makes and calls such tools in a few lines',
    },
  },
  {
    area: 'CAT',
    title: 'Catalogue',
    requirements: {
      'CAT-1': 'files: read, list, search, write, edit, make folders, move, delete',
      'CAT-2': 'shell and git, governed per segment and per operation',
      'CAT-3': 'system: metrics, process health, logs',
      'CAT-4': 'web: search, fetch and the HTTP verbs',
      'CAT-5': 'desktop: clipboard, notifications, applications, browser',
      'CAT-6': 'code: search, definitions, documentation, linter, tests',
      'CAT-7': 'data: reads that the database itself keeps read-only, and writes',
      'CAT-8': 'inference with cost limits, and immutable artifacts',
      'CAT-9': 'administration as critical tools',
      'CAT-10': 'the gate reads its configuration and checks itself',
      'CAT-11': 'canonical dotted names with aliases; rules see the canonical one',
    },
  },
  {
    area: 'AUD',
    title: 'Audit and telemetry',
    requirements: {
      'AUD-1': 'each request, decision and outcome is on record, whatever the door or the end',
      'AUD-2': 'intent before effect, outcome after, unknown after a crash; no log, no run',
      'AUD-3': 'a signed Merkle log that shows any tampering and that others can verify',
      'AUD-4': 'secrets reach no log, trace, approval or error',
      'AUD-5': 'records can be queried and exported, also when there are millions',
      'AUD-6': 'structured events, spans and metrics per call',
      'AUD-7': 'erasing the data of a person leaves the log verifiable',
      'AUD-8': 'a receipt of one call verifies offline, and witnesses cosign checkpoints',
      'AUD-9': 'network requests of programs are recorded; trusted state outside the log is authenticated',
    },
  },
  {
    area: 'ANOM',
    title: 'Anomalies',
    requirements: {
      'ANOM-1': 'bursts, failure streaks and suspicious sequences alert once per episode',
      'ANOM-2': 'anomalies are reported and may change mode or quarantine',
      'ANOM-3': 'rules over the history of a session stop data from leaving',
    },
  },
  {
    area: 'UI',
    title: 'Command line and console',
    requirements: {
      'UI-1': 'the tool commands, with JSON output, completion and helpful errors',
      'UI-2': 'the operator commands',
      'UI-3': 'the web console, also on a phone, behind a login',
      'UI-4': 'rules are drafted from calls and cards, narrow, replayed, and never open what was denied unseen',
    },
  },
  {
    area: 'HOOK',
    title: 'The own tools of agents',
    requirements: {
      'HOOK-1': 'hooks of coding agents are answered in their own format, and failure blocks',
      'HOOK-2': 'a hooked call maps to its canonical tool, passes the gates and gets an outcome',
      'HOOK-3': 'a rule can turn a built-in command into a sandboxed run',
      'HOOK-4': '`init` connects installed clients, probes them, and can be undone',
      'HOOK-5': 'calls that went around the gate are found in transcripts and shown',
      'HOOK-6': 'shell commands are judged part by part by a real grammar, and the strictest part decides',
    },
  },
  {
    area: 'RUN',
    title: 'Whole agents behind the gate',
    requirements: {
      'RUN-1': 'any unmodified program runs in the sandbox with a terminal, and its only ways out are the doors',
      'RUN-2':
        'the workspace of a run is an overlay that is reviewed, applied in part or discarded, and survives crashes',
      'RUN-3': 'egress rules by host, method and path; unknown destinations are held and decided',
      'RUN-4': 'credentials stay in the gate, and a placeholder used elsewhere is an alert',
      'RUN-5': 'a rehearsed call shows its real result, and exactly that is applied',
      'RUN-6': 'one timeline joins calls, processes, requests and changed files',
    },
  },
  {
    area: 'PKG',
    title: 'At home on a machine',
    requirements: {
      'PKG-1': 'packages from tarballs work on Node 20 and newer from an empty home',
      'PKG-2': 'a service is installed and removed by one command, and its limits are named honestly',
      'PKG-3': 'each session has its own workspace inside an accepted root; project rules only narrow',
      'PKG-4': 'beyond loopback only with TLS and a passkey or OIDC login',
      'PKG-5': 'a running gate is backed up and restored, logs rotate, and doctor tries every part',
    },
  },
  {
    area: 'NFR',
    title: 'Quality',
    requirements: {
      'NFR-1': 'fast starts of tools, many calls in flight, cached listings',
      'NFR-2': 'kill -9 loses nothing acknowledged and leaves nothing behind',
      'NFR-3': 'embedded by default, several replicas with exact limits on PostgreSQL',
      'NFR-4': 'hostile input gives a clear error and costs nothing else',
      'NFR-5': 'strict TypeScript, structured logs, relative imports inside a package',
      'NFR-6': 'programs can run on pools of other machines, at most once, with the same limits and records',
    },
  },
] as const satisfies readonly RequirementArea[];

interface RequirementArea {
  readonly area: string;
  readonly title: string;
  readonly requirements: Readonly<Record<string, string>>;
}

/** Title by id, in the order above. */
export const requirements: ReadonlyMap<string, string> = new Map(
  requirementAreas.flatMap((area) => Object.entries(area.requirements)),
);
