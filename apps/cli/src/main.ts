import { type CommandSpec, type OptionSpec, runProgram, version } from '@iop/shell/program';

/** How every command that asks an Edge finds it. */
const connection: Readonly<Record<string, OptionSpec>> = {
  socket: {
    flag: '--socket <path>',
    summary: 'the Edge’s local socket (default: that of `iop up`)',
    env: 'IOP_SOCKET',
  },
  edge: {
    flag: '--edge <host:port>',
    summary: 'the Edge over TCP; needs --pin and --token-file',
    env: 'IOP_EDGE',
  },
  pin: {
    flag: '--pin <sha256:…>',
    summary: 'the Edge’s pin, as `iop-edge init` printed it',
    env: 'IOP_EDGE_PIN',
    repeat: true,
  },
  tokenFile: {
    flag: '--token-file <file>',
    summary: 'holds the operator token',
    env: 'IOP_OPERATOR_TOKEN_FILE',
  },
  plaintext: { flag: '--plaintext', summary: 'no TLS; only to an Edge on this machine that is set so' },
};

const json: OptionSpec = { flag: '--json', summary: 'for programs: one JSON document' };

const commands: Record<string, CommandSpec> = {
  up: {
    summary: 'Starts an Edge and a Node here, in the foreground.',
    options: {
      stateDir: {
        flag: '--state-dir <dir>',
        summary: 'identity, keys and records (default: $XDG_STATE_HOME/iop or ~/.local/state/iop)',
        env: 'IOP_STATE_DIR',
      },
      portBase: { flag: '--port-base <n>', summary: 'wire port n, HTTP port n + 80', default: '7400' },
      agents: {
        flag: '--agents <names>',
        summary: 'CLI agents to offer as models, by name, or all; they work with your login',
      },
      agentsDir: {
        flag: '--agents-dir <dir>',
        summary: 'where they work (default: agents in the state directory)',
      },
      json: { flag: '--json', summary: 'one line on stdout when a run has really succeeded' },
      verbose: { flag: '--verbose', summary: 'the logs of the parts on stderr' },
    },
    service: true,
    load: () => import('./commands/up.ts'),
  },
  run: {
    summary: 'Runs a prompt and streams the answer; Ctrl-C cancels.',
    args: ['<prompt>'],
    options: {
      adapter: {
        flag: '-a, --adapter <name>',
        summary: 'way of executing: mock, ollama, vllm, cli',
        required: true,
      },
      target: { flag: '-t, --target <name>', summary: 'what it executes: a model', required: true },
      node: { flag: '-n, --node <name>', summary: 'only on this Node' },
      detach: {
        flag: '-d, --detach',
        summary: 'prints the id of the run and leaves: it goes on whoever looks (iop watch)',
      },
      idempotencyKey: {
        flag: '--idempotency-key <key>',
        summary: 'for 24 h the same key and prompt mean the same run',
      },
      json: { flag: '--json', summary: 'for programs: one JSON line an event, then the end' },
      ...connection,
    },
    help:
      'A prompt of - is read from stdin.\n\nExamples:\n  iop run -a mock -t echo "Hello"\n  git diff | iop run -a vllm -t qwen -\n' +
      '  iop watch $(iop run --detach -a vllm -t qwen "Write a long story")',
    load: () => import('./commands/run.ts'),
  },
  runs: {
    summary: 'Lists runs, the newest first; or shows one.',
    args: ['[run]'],
    options: {
      limit: { flag: '--limit <n>', summary: 'how many', default: '50' },
      state: { flag: '--state <states>', summary: 'only these, with commas: queued,running,failed …' },
      json,
      ...connection,
    },
    load: () => import('./commands/runs.ts'),
  },
  watch: {
    summary: 'Shows a run from its first event to its end; Ctrl-C leaves the run alone.',
    args: ['<run>'],
    options: {
      after: { flag: '--after <pos>', summary: 'only what comes after this event', default: '0' },
      json: { flag: '--json', summary: 'for programs: one JSON line an event, then the end' },
      ...connection,
    },
    help: 'When the link is lost it is made anew, and the watch goes on where it was. Ends as `iop run` does: 0 if the run completed.',
    load: () => import('./commands/watch.ts'),
  },
  why: {
    summary:
      'Tells why a run went where it went: its attempts, every candidate and what dropped it, its waits.',
    args: ['<run>'],
    options: { json, ...connection },
    load: () => import('./commands/why.ts'),
  },
  cancel: {
    summary: 'Cancels a run, attached or detached.',
    args: ['<run>'],
    options: { json, ...connection },
    load: () => import('./commands/cancel.ts'),
  },
  nodes: {
    summary: 'Lists the Nodes and what they can execute.',
    options: { json, ...connection },
    load: () => import('./commands/nodes.ts'),
  },
  targets: {
    summary: 'Lists what can be run, where, and what it can do.',
    options: { json, ...connection },
    help:
      'NODES: state if not ready, running+waiting in the upstream. ALIASES: fast#2 is the second choice of fast, x3 its weight.\n' +
      'CAN: * was shown by a run, ! does not work.',
    load: () => import('./commands/targets.ts'),
  },
  keys: {
    summary: 'Lists, creates, limits and revokes API keys.',
    args: ['[action]', '[value]'],
    options: {
      targets: {
        flag: '--targets <names>',
        summary: 'what it may use, with commas: names, adapter/name, with * for any text; all: everything',
      },
      concurrency: { flag: '--concurrency <n>', summary: 'runs at once; none: no limit' },
      rate: { flag: '--rate <n/unit>', summary: 'runs a second, minute, hour or day: 60/m; none: no limit' },
      burst: { flag: '--burst <n>', summary: 'how many of them may come at once (default: all of the rate)' },
      expires: { flag: '--expires <when>', summary: 'in 12h, 30d, 2w, on 2027-01-31, or never' },
      role: {
        flag: '--role <role>',
        summary: 'caller: /v1; operator: the management API too, but for changing keys; admin: all of it',
      },
      name: { flag: '--name <name>', summary: 'with set: another name' },
      json,
      ...connection,
    },
    help:
      'Examples:\n  iop keys\n  iop keys create "laptop of Kim" --targets qwen,gpu/* --concurrency 4 --rate 60/m --expires 30d\n' +
      '  iop keys set a1b2c3d4 --rate none\n  iop keys revoke a1b2c3d4',
    load: () => import('./commands/keys.ts'),
  },
  usage: {
    summary: 'Sums up runs and their tokens.',
    options: {
      since: { flag: '--since <when>', summary: 'runs since 7d ago, or 2027-01-31; all', default: 'all' },
      by: { flag: '--by <what>', summary: 'key, model or node', default: 'key' },
      json,
      ...connection,
    },
    help: '~ marks sums with tokens that were estimated, because the upstream did not say.',
    load: () => import('./commands/usage.ts'),
  },
};

void runProgram({ name: 'iop', summary: 'Operates IOP: runs, Nodes, keys.', version, commands });
