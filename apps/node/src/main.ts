#!/usr/bin/env node
import { runProgram, version } from '@iop/shell/program';

await runProgram({
  name: 'iop-node',
  summary: 'Executes runs for an Edge on this machine.',
  version,
  commands: {
    serve: {
      summary: 'Link to the Edge and execute what it sends, until stopped.',
      options: {
        config: { flag: '--config <file>', summary: 'node.yaml', env: 'IOP_NODE_CONFIG', required: true },
        set: { flag: '--set <key=value>', summary: 'override a key of the file', repeat: true },
        check: { flag: '--check', summary: 'only check the configuration' },
      },
      service: true,
      load: async () => (await import('./commands/serve.ts')).serveCommand,
    },
  },
});
