import { existsSync } from 'node:fs';
import { IopError, isName } from '@iop/domain';
import { createIdentityPem, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { openStateDir, readSecretFile, writeSecretFile } from '@iop/shell';
import type { CommandContext, LoadedCommand } from '@iop/shell/program';
import { createSecrets } from '../outbound/secrets.ts';
import { stateFiles } from '../state-files.ts';

export const initCommand: LoadedCommand = { run: runInit };

/** What `init` made or found. */
export interface InitResult {
  name: string;
  stateDir: string;
  /** Nodes and operators pin this. */
  pin: string;
  configFile: string;
  nodeTokenFile: string;
  operatorTokenFile: string;
  /** Files that were not there before. */
  created: string[];
}

async function runInit({ options, stdout }: CommandContext): Promise<void> {
  const result = initState(String(options.stateDir), String(options.name));
  stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : wordsOf(result));
}

/** Makes what is missing and changes nothing that is there. */
export function initState(path: string, name: string): InitResult {
  if (!isName(name)) {
    const message = `"${name}" is no name: lower case letters, digits, . _ -; give another --name`;
    throw new IopError({ kind: 'invalid', code: 'usage', message });
  }
  const stateDir = openStateDir(path);
  const files = stateFiles(stateDir);
  const secrets = createSecrets();
  const texts: [file: string, text: () => string][] = [
    [files.identity, createIdentityPem],
    [files.nodeToken, () => `${secrets.newSecret()}\n`],
    [files.operatorToken, () => `${secrets.newSecret()}\n`],
    [files.config, () => firstConfig(name, stateDir)],
  ];
  const missing = texts.filter(([file]) => !existsSync(file));
  for (const [file, text] of missing) writeSecretFile(file, text());
  const identity = loadIdentity(readSecretFile(files.identity));
  return {
    name,
    stateDir,
    pin: nodeCrypto.pinOf(identity.publicKey),
    configFile: files.config,
    nodeTokenFile: files.nodeToken,
    operatorTokenFile: files.operatorToken,
    created: missing.map(([file]) => file),
  };
}

function firstConfig(name: string, stateDir: string): string {
  return `# The truth about this Edge. Every key, with its default: docs/config-edge.md
name: ${name}
state_dir: ${JSON.stringify(stateDir)}

wire: { host: 127.0.0.1, port: 7400 }   # where Nodes and operators dial
http: { host: 127.0.0.1, port: 7480 }   # the OpenAI door: http://127.0.0.1:7480/v1

adapters:
  # always there, to try things out
  - { name: mock, kind: mock, nodes: ["*"], targets: [{ name: echo }] }
  # any server of the OpenAI dialect, as its Node reaches it
  # - { name: vllm, kind: vllm, nodes: [gpu-1], base_url: http://127.0.0.1:8000/v1, concurrency: 8 }

models: []
  # - { name: qwen, adapter: vllm, target: Qwen/Qwen3-8B }
`;
}

function wordsOf(result: InitResult): string {
  const made = result.created.length === 0 ? 'everything was there already' : result.created.join('\n  ');
  return `Edge ${result.name} in ${result.stateDir}

made
  ${made}

pin of its key, for edge.pins of every node.yaml and for iop --pin
  ${result.pin}

next
  iop-edge serve --config ${result.configFile}
  copy ${result.nodeTokenFile} to the machine of each Node and name it as edge.token_file there
`;
}
