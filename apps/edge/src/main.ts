#!/usr/bin/env node
import { runProgram } from '@iop/shell/program';
import manifest from '../package.json' with { type: 'json' };

await runProgram({
  name: 'iop-edge',
  summary: 'Controls one group of Nodes and serves it to callers.',
  version: manifest.version,
  commands: {
    init: {
      summary: 'Make identity, tokens and a first edge.yaml; what exists is kept.',
      options: {
        stateDir: { flag: '--state-dir <dir>', summary: 'where they go', required: true },
        name: { flag: '--name <name>', summary: 'name of this Edge', default: 'edge' },
        json: { flag: '--json', summary: 'print what was made as one line of JSON' },
      },
      load: async () => (await import('./commands/init.ts')).initCommand,
    },
    serve: {
      summary: 'Serve callers, Nodes and operators, until stopped.',
      options: {
        config: { flag: '--config <file>', summary: 'edge.yaml', env: 'IOP_EDGE_CONFIG', required: true },
        set: { flag: '--set <key=value>', summary: 'override a key of the file', repeat: true },
        check: { flag: '--check', summary: 'only check the configuration' },
      },
      service: true,
      load: async () => (await import('./commands/serve.ts')).serveCommand,
    },
  },
});
