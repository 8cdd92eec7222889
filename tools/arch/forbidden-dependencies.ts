/** A dependency that may not be in the tree, neither named by us nor brought by others. */
export interface ForbiddenDependency {
  name: RegExp;
  why: string;
  /** We may not name it, but a package that we use brings it along. */
  toleratedWith?: string;
}

export const forbiddenDependencies: readonly ForbiddenDependency[] = [
  {
    name: /^(@grpc\/.*|grpc|grpc-web|nice-grpc.*)$/,
    why: 'no gRPC: the wire is our own framed protobuf over TCP',
  },
  {
    name: /^(ws|isomorphic-ws|faye-websocket|websocket|socket\.io.*|engine\.io.*|uwebsockets\.js|@fastify\/websocket)$/i,
    why: 'no WebSocket as a transport: links are TCP, streams to browsers are SSE',
  },
  {
    name: /^(xstate|@xstate\/.*|javascript-state-machine|machina|robot3|stately|finity|state-machine-cat)$/,
    why: 'no FSM framework: a life is one table of transitions that can be read',
  },
  { name: /^(nact|comedy|akka|actor-system|@eclipse-ditto\/.*|drama)$/, why: 'no actor framework' },
  {
    name: /^(piscina|workerpool|tinypool|poolifier|threads|jest-worker|node-worker-threads-pool)$/,
    why: 'no worker pool: the store has one thread of its own, the rest is one loop',
  },
  {
    name: /^(tapable|plugin-engine|@oclif\/core|oclif|pluggable|architect|hapi-pal|seneca|moleculer|@nestjs\/.*)$/,
    why: 'no plugin framework: parts are named in serve.ts, adapters are a map',
  },
  {
    name: /^(@kubernetes\/client-node|kubernetes-client|@kubernetes-models\/.*|cdk8s.*|@pulumi\/kubernetes)$/,
    why: 'no Kubernetes: IOP runs on machines as they are',
  },
  {
    name: /^(inversify|tsyringe|typedi|awilix|bottlejs|injection-js|reflect-metadata)$/,
    why: 'no dependency injection container: arguments are enough',
    toleratedWith: '@peculiar/x509',
  },
  {
    name: /^(neverthrow|ts-results.*|oxide\.ts|fp-ts|effect|@effect\/.*|true-myth)$/,
    why: 'no Result library: expected outcomes are unions',
  },
  {
    name: /^(sinon|testdouble|nock|msw|jest|@jest\/.*|jest-mock|ts-mockito|proxyquire|mockery|@sinonjs\/.*|vitest)$/,
    why: 'no mocking library: peers are faked on a real socket, ports by small fakes',
  },
  { name: /^(lodash|underscore|ramda|moment|request|axios)$/, why: 'the platform has it' },
  {
    name: /^(better-sqlite3|sqlite3|node-pty|bindings|node-gyp.*|prebuild-install)$/,
    why: 'no native addon: binaries are single files',
  },
];

export interface NamedDependency {
  name: string;
  /** The file that brings it. */
  from: string;
}

export const lockfile = 'package-lock.json';

export function findForbidden(dependencies: readonly NamedDependency[]): string[] {
  return dependencies.flatMap(({ name, from }) =>
    forbiddenDependencies
      .filter((row) => row.name.test(name) && (from !== lockfile || row.toleratedWith === undefined))
      .map((row) => `${from}: ${name}: ${row.why}`),
  );
}

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

export function dependenciesOfManifest(text: string, from: string): NamedDependency[] {
  const manifest = JSON.parse(text) as Manifest;
  const groups = [
    manifest.dependencies,
    manifest.devDependencies,
    manifest.optionalDependencies,
    manifest.peerDependencies,
  ];
  return groups.flatMap((group) => Object.keys(group ?? {})).map((name) => ({ name, from }));
}

export function dependenciesOfLockfile(text: string): NamedDependency[] {
  const { packages } = JSON.parse(text) as { packages: Record<string, unknown> };
  const marker = 'node_modules/';
  return Object.keys(packages)
    .filter((path) => path.includes(marker))
    .map((path) => ({
      name: path.slice(path.lastIndexOf(marker) + marker.length),
      from: 'package-lock.json',
    }));
}
