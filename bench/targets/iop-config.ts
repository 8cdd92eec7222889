/** The configuration of the measured Edge and Node: everything on, nothing tuned for the measurement but the ports. */
export interface IopPlaces {
  edgeDir: string;
  nodeDir: string;
  httpPort: number;
  wirePort: number;
  mockPort: number;
  tls: boolean;
  pin: string;
}

/** JSON is YAML. */
export function edgeConfig({ edgeDir, httpPort, wirePort, mockPort, tls }: Omit<IopPlaces, 'pin'>): string {
  return JSON.stringify({
    name: 'bench',
    state_dir: edgeDir,
    wire: { host: '127.0.0.1', port: wirePort, tls },
    http: { host: '127.0.0.1', port: httpPort },
    adapters: [
      { name: 'vllm', kind: 'vllm', nodes: ['bench-node'], base_url: `http://127.0.0.1:${mockPort}/v1` },
      { name: 'cli', kind: 'cli', targets: [{ name: 'bench-cat', program: '/bin/cat', directory: edgeDir }] },
    ],
    models: [{ name: 'bench', adapter: 'vllm', target: 'bench' }],
  });
}

export function nodeConfig({ edgeDir, nodeDir, wirePort, tls, pin }: IopPlaces): string {
  return JSON.stringify({
    name: 'bench-node',
    state_dir: nodeDir,
    edge: { address: `127.0.0.1:${wirePort}`, pins: [pin], token_file: `${edgeDir}/node.token`, tls },
    allow: { adapters: ['vllm', 'cli'], programs: ['/bin/cat'], directories: [edgeDir] },
  });
}
