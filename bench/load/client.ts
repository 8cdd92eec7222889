import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startChild, stopChild } from '../machine/child.ts';
import type { LoadCommand, LoadReply, LoadResults } from './messages.ts';

/** Our side of the load generator's process. */
export class LoadClient {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(cpu: number, logFd: number): Promise<LoadClient> {
    const worker = new URL('./worker.ts', import.meta.url).pathname;
    const child = startChild({
      name: 'load',
      cpu,
      command: process.execPath,
      args: [worker],
      ipc: true,
      logFd,
    });
    const client = new LoadClient(child);
    await client.#nextReply();
    return client;
  }

  /** For charging the measuring side itself. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async run<C extends LoadCommand>(command: C): Promise<LoadResults[C['kind']]> {
    const reply = this.#nextReply();
    this.#child.send(command);
    return (await reply) as LoadResults[C['kind']];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return stopChild(this.#child);
  }

  async #nextReply(): Promise<unknown> {
    const controller = new AbortController();
    const { signal } = controller;
    const exited = once(this.#child, 'exit', { signal }).then(() => {
      throw new Error('the load generator died; see load.log');
    });
    exited.catch(() => undefined);
    try {
      const [reply] = (await Promise.race([once(this.#child, 'message', { signal }), exited])) as [LoadReply];
      if (reply.kind === 'error') throw new Error(reply.message);
      return reply.kind === 'result' ? reply.result : undefined;
    } finally {
      controller.abort();
    }
  }
}
