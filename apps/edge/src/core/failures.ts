import { type ErrorDetails, type RunFailure, retryOf } from '@iop/domain';

/** Failures that the Edge itself gives a run. Each says what was tried, on what, and what to do. */

export function nodeLost(node: string, why: string): RunFailure {
  return failure('unavailable', 'node.lost', {
    message: `Node ${node} ${why}; the run cannot go on. Ask again, and look at the Node if it does not return`,
    details: { node },
  });
}

export function stopUnconfirmed(node: string, details: { by: string; waitedMs: number }): RunFailure {
  return {
    ...failure('timeout', 'node.stop-unconfirmed', {
      message:
        `the run was to be stopped (${details.by}), but Node ${node} did not confirm it within ` +
        `${details.waitedMs} ms; its work may still go on there`,
      details: { node, ...details },
    }),
    retryable: false,
  };
}

export interface WaitedInVain {
  asked: string;
  waitedMs: number;
  retryAfterMs: number;
}

export function queueTimeout({ asked, ...details }: WaitedInVain): RunFailure {
  const { waitedMs } = details;
  return failure('exhausted', 'queue.timeout', {
    message: `no place for ${asked} became free within ${waitedMs} ms; ask later or raise its concurrency`,
    details: { asked, ...details },
  });
}

export function keyTimeout(keyId: string, { asked, ...details }: WaitedInVain): RunFailure {
  const { waitedMs } = details;
  return failure('exhausted', 'queue.timeout', {
    message: `the API key ${keyId} had as many runs as it may for ${waitedMs} ms; ask later or raise its concurrency`,
    details: { asked, keyId, ...details },
  });
}

export function brokenAttempt(node: string, why: { code: string; message: string }): RunFailure {
  return failure('unavailable', why.code, {
    message: `what Node ${node} sent for this run cannot be used: ${why.message}`,
    details: { node },
  });
}

/** Nothing was sent to any Node. */
export function notCommitted(detail: string): RunFailure {
  return failure('unavailable', 'store.unavailable', {
    message: `the run could not be committed to the Edge's disk and was not started: ${detail}; ask again later`,
    details: {},
  });
}

export function edgeStopped(): RunFailure {
  return failure('unavailable', 'edge.stopped', {
    message: 'the Edge was stopped and the Node did not confirm the stop of this run in time',
    details: {},
  });
}

function failure(
  kind: RunFailure['kind'],
  code: string,
  text: { message: string; details: ErrorDetails },
): RunFailure {
  return { kind, code, ...text, retryable: retryOf(kind) !== 'never' };
}
