/**
 * Who may import whom. The test reads it, ARCHITECTURE.md prints it (`npm run gen`).
 *
 * A row is a place in the tree. Its files may import other files of the same place and what `may`
 * lists; nothing else. `{app}` and `{part}` stand for one folder or file name and keep their value
 * inside a row. The first row that matches a file is its row.
 */
export interface ImportRow {
  place: string;
  /** Places, `node:…` modules, `npm:…` packages; `*` is any of the kind. */
  may: readonly string[];
  why: string;
}

const packages = [
  'packages/domain',
  'packages/runtime',
  'packages/wire',
  'packages/link',
  'packages/link/src/tcp',
  'packages/shell',
];

export const importTable: readonly ImportRow[] = [
  {
    place: 'packages/domain',
    may: [],
    why: 'The words that every part shares; what they need, everybody would need.',
  },
  {
    place: 'packages/wire',
    may: ['packages/domain', 'npm:@bufbuild/protobuf'],
    why: 'Bytes and messages, no sockets: so the protocol is tested without a network and runs anywhere.',
  },
  {
    place: 'packages/runtime/src/testing',
    may: ['packages/runtime', 'packages/domain', 'node:*'],
    why: 'The contract suite that every adapter runs, and the scripted fake.',
  },
  {
    place: 'packages/runtime',
    may: ['packages/domain'],
    why: 'The Adapter port. An adapter author has to know nothing of wires, Edges or Node.js.',
  },
  {
    place: 'packages/link/src/tcp',
    may: ['packages/link', 'packages/domain', 'packages/wire', 'node:*'],
    why: 'The only place that opens sockets and makes certificates.',
  },
  {
    place: 'packages/link/src/testing',
    may: ['packages/link', 'packages/link/src/tcp', 'packages/domain', 'packages/wire', 'node:*'],
    why: 'Memory transport, contract suites and the fake peer on a real socket.',
  },
  {
    place: 'packages/link',
    may: ['packages/domain', 'packages/wire'],
    why: 'Handshake, heartbeat, replay and credit are pure: clock, crypto and randomness are passed in.',
  },
  {
    place: 'packages/shell/src/program',
    may: ['packages/domain', 'npm:commander', 'node:*'],
    why: 'What a program imports before it knows its command; each library here is paid at every start.',
  },
  {
    place: 'packages/shell',
    may: [
      'packages/shell/src/program',
      'packages/domain',
      'npm:pino',
      'npm:prom-client',
      'npm:yaml',
      'npm:zod',
      'node:*',
    ],
    why: 'What every program needs of its machine. It knows no wire, so that any program can have it.',
  },
  {
    place: 'packages/cli-profile',
    may: ['packages/shell', 'npm:zod'],
    why: 'What a target of the adapter cli is: declared once, checked by the Edge and again by the Node.',
  },
  {
    place: 'packages/client/src/testing',
    may: [
      'packages/client',
      'packages/domain',
      'packages/wire',
      'packages/link',
      'packages/link/src/tcp',
      'node:*',
    ],
    why: 'A fake Edge on a real socket, for tests of the client and of `iop`.',
  },
  {
    place: 'packages/client',
    may: ['packages/domain', 'packages/wire', 'packages/link', 'packages/link/src/tcp'],
    why: 'What an operator can ask of an Edge; it sees an Edge only through the wire.',
  },
  {
    place: 'apps/{app}/src/main.ts',
    may: [
      'apps/{app}/src',
      'apps/{app}/src/commands',
      'packages/shell/src/program',
      'packages/domain',
      'node:*',
    ],
    why: 'From argv to a command, which is imported when it is run: a start costs only what it needs.',
  },
  {
    place: 'apps/cli/src',
    may: [
      'packages/client',
      'packages/cli-profile',
      'packages/domain',
      'packages/shell',
      'packages/shell/src/program',
      'npm:yaml',
      'node:*',
    ],
    why: 'What `iop` asks, shows and starts. It reaches an Edge through the client, other programs as processes.',
  },
  {
    place: 'apps/{app}/test',
    may: [
      'apps/{app}/src/*',
      'packages/client',
      'packages/client/src/testing',
      ...packages,
      'packages/link/src/testing',
      'packages/runtime/src/testing',
      'node:*',
      'npm:*',
    ],
    why: 'The app as a whole, mostly as a child process with a fake peer on a real socket.',
  },
  {
    place: 'apps/{app}/src/core',
    may: ['apps/{app}/src/ports', 'packages/domain', 'packages/runtime'],
    why: 'Decisions. Without clocks, sockets and wire types they can be tested in microseconds and read alone.',
  },
  {
    place: 'apps/{app}/src/ports',
    may: ['apps/{app}/src/core', 'packages/domain', 'packages/runtime'],
    why: 'What core asks of the world, in the words of core.',
  },
  {
    place: 'apps/{app}/src/inbound/{file}.ts',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/inbound/*',
      'apps/{app}/src/operator-requests',
      'packages/domain',
      'packages/wire',
      'packages/link',
      'packages/link/src/tcp',
      'packages/shell',
      'node:*',
    ],
    why: 'A port, and the ways in that are hung into it.',
  },
  {
    place: 'apps/{app}/src/inbound/http',
    may: ['apps/{app}/src/core', 'apps/{app}/src/ports', ...packages, 'node:*', 'npm:*'],
    why: 'The one HTTP port and what all doors on it share; it knows none of them.',
  },
  {
    place: 'apps/{app}/src/inbound/{part}',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/inbound/http',
      'apps/{app}/src/run-events',
      'apps/{app}/src/dialects',
      'apps/{app}/src/operator-requests',
      ...packages,
      'node:*',
      'npm:*',
    ],
    why: 'One way in. It calls core and knows no other way in, so that each can be replaced alone.',
  },
  {
    place: 'apps/{app}/src/run-events',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'packages/domain',
      'packages/runtime',
      'packages/wire',
    ],
    why: 'Events of runs as messages of the wire, and back: what Nodes send, operators read and the store keeps.',
  },
  {
    place: 'apps/{app}/src/operator-requests',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/run-events',
      'packages/domain',
      'packages/runtime',
      'packages/wire',
      'node:crypto',
    ],
    why: 'What operators ask, in messages of the wire: the same answers on a link and at the management API.',
  },
  {
    place: 'apps/{app}/src/dialects',
    may: ['apps/{app}/src/run-events', 'packages/domain', 'packages/runtime'],
    why: 'Reads the raw events of one dialect for the doors of others. Pure.',
  },
  {
    place: 'apps/{app}/src/outbound/{part}',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/run-events',
      ...packages,
      'packages/cli-profile',
      'packages/runtime/src/testing',
      'node:*',
      'npm:*',
    ],
    why: 'One thing that core drives. It knows no other, so that each can be replaced alone.',
  },
  {
    place: 'apps/{app}/src/config',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/inbound/http',
      'packages/domain',
      'packages/shell',
      'packages/cli-profile',
      'npm:zod',
      'npm:yaml',
    ],
    why: 'The one declaration of the configuration, and its way into the words of the parts.',
  },
  {
    place: 'apps/{app}/src/testing',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/inbound/*',
      'apps/{app}/src/outbound/*',
      'apps/{app}/src/commands',
      'apps/{app}/src/config',
      ...packages,
      'packages/link/src/testing',
      'packages/runtime/src/testing',
      'node:*',
      'npm:*',
    ],
    why: 'Fakes and fixtures of this app.',
  },
  {
    place: 'apps/{app}/src/commands',
    may: [
      'apps/{app}/src/core',
      'apps/{app}/src/ports',
      'apps/{app}/src/inbound/*',
      'apps/{app}/src/outbound/*',
      'apps/{app}/src/config',
      'apps/{app}/src/*',
      ...packages,
      'packages/shell/src/program',
      'node:*',
    ],
    why: 'Composition roots: the only files that name the parts of an app, read from top to bottom.',
  },
  {
    place: 'apps/{app}/src/{part}',
    may: ['apps/{app}/src/core', 'apps/{app}/src/ports', 'apps/{app}/src/config', ...packages, 'node:*'],
    why: 'What several commands of one app share.',
  },
  {
    place: 'e2e/peers',
    may: [
      'e2e',
      'packages/domain',
      'packages/wire',
      'packages/link',
      'packages/link/src/tcp',
      'packages/shell',
      'node:*',
    ],
    why: 'Simulated peers speak the protocol themselves: fleets of Nodes, impostors.',
  },
  {
    place: 'e2e/soak/history',
    may: ['packages/domain'],
    why: 'What was done and what was seen, as plain data.',
  },
  {
    place: 'e2e/soak/check',
    may: ['e2e/soak/history', 'packages/domain'],
    why: 'The invariants are a function of a history, so that each can be tested with a planted violation.',
  },
  {
    place: 'e2e/soak',
    may: ['e2e', 'e2e/soak/*', 'packages/domain', 'packages/client', 'packages/wire', 'node:*'],
    why: 'Breaks programs, asks them, and reads what they wrote down.',
  },
  {
    place: 'e2e',
    may: [
      'e2e/soak',
      'e2e/soak/*',
      'e2e/peers',
      'packages/domain',
      'packages/client',
      'packages/client/src/testing',
      'node:*',
      'npm:*',
    ],
    why: 'Stories see programs from outside: processes, sockets, files.',
  },
  {
    place: 'bench/codec',
    may: ['bench', 'packages/wire', 'node:*', 'npm:*'],
    why: 'P11 measures the codec itself.',
  },
  {
    place: 'bench/store',
    may: ['bench', 'apps/edge/src/outbound/store-sqlite', 'apps/edge/src/ports', 'packages/shell', 'node:*'],
    why: 'P10 measures the store itself.',
  },
  {
    place: 'bench',
    may: ['bench/codec', 'bench/store', 'packages/domain', 'packages/client', 'node:*', 'npm:*'],
    why: 'Measures programs from outside, as their users meet them.',
  },
  {
    place: 'tools',
    may: ['apps/*/src/config', 'packages/shell', 'packages/domain', 'node:*', 'npm:*'],
    why: 'Checks of the tree itself, and what is generated from it.',
  },
];

/** A test may also import what it tests with: fakes, contract suites, fixtures, testing entries. */
export const testsMayAlso: ImportRow = {
  place: 'tests of a place',
  may: ['*/testing', 'x.contract.ts', 'x.fixture.ts', 'fixture-*.ts', 'node:*', 'npm:*'],
  why: 'Never another test: each can be run, read and deleted alone.',
};
