import type { Adapter } from '@iop/runtime';

/** One adapter instance as the Edge configures it. */
export interface AdapterConfiguration {
  /** Instance name, unique on the Node. */
  name: string;
  /** Runs at once over all targets; 0: no limit of its own. */
  concurrency: number;
  targets: readonly TargetConfiguration[];
  settings: AdapterSettings;
}

export interface TargetConfiguration {
  name: string;
  /** Runs at once; 0: no limit of its own. */
  concurrency: number;
  /** mock: the script that plays when a prompt carries none, as JSON; empty: none. */
  mockScriptJson: string;
  /** cli: the program and how it is called, as JSON; empty: none. */
  cliProfileJson: string;
  /** vllm: whether the upstream is asked for a stream; undefined: as the caller asks. */
  forceStream?: boolean;
}

export type AdapterSettings =
  | { kind: 'mock' }
  | { kind: 'cli' }
  | {
      kind: 'vllm';
      baseUrl: string;
      /** A file on this Node; empty: no key. */
      apiKeyFile: string;
      /** 0: the adapter's own default, for all three. */
      connectTimeoutMs: number;
      firstByteTimeoutMs: number;
      idleTimeoutMs: number;
    }
  | {
      kind: 'ollama';
      /** Before `/api`. */
      baseUrl: string;
      /** A file on this Node; empty: no key. */
      apiKeyFile: string;
      /** 0: the adapter's own default, for all three. */
      connectTimeoutMs: number;
      loadTimeoutMs: number;
      idleTimeoutMs: number;
      /** Tokens of prompt and answer; 0: as the server is set up. */
      numCtx: number;
      /** "5m", seconds, 0, -1; empty: as the server is set up. */
      keepAlive: string;
      /** on, off, low, medium, high, max; empty: as the model does by itself. */
      think: string;
    };

/** Bounds of `node.yaml` on what an Edge may configure here. */
export interface Allow {
  /** Kinds of adapters. */
  adapters: readonly string[];
  /** Programs that may be started; by default none. */
  programs: readonly string[];
  /** Directories in which files may be named. */
  directories: readonly string[];
  /** Hosts that may be called. */
  hosts: readonly string[];
  /** Variables of the Node's own environment that programs may be given; by default none. */
  environment?: readonly string[];
}

/** One kind of adapter; the registry is a map of them by kind, filled in `commands/serve.ts`. */
export interface AdapterFactory {
  /**
   * What is wrong with `configuration`: what, where in it, what was expected. Empty: it can be
   * created. May look at files; opens no connection.
   */
  check(configuration: AdapterConfiguration, allow: Allow): readonly string[];
  /** Only for a configuration that was checked. Throws an `IopError` if it cannot. */
  create(configuration: AdapterConfiguration, allow: Allow): Adapter;
}
