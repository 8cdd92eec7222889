import { isIopError } from '@iop/domain';
import { chatBody, type DetachedAsk, type Door, jsonOf, send, type Way } from './doors.ts';
import { openClient } from './operator.ts';

export function operatorDoor({ edge, served }: Way): Door {
  const { adapter, target } = served;
  const orderOf = (asked: DetachedAsk) => ({
    adapter,
    target,
    dialect: 'openai.chat',
    body: Buffer.from(JSON.stringify(chatBody(target, asked))),
    stream: asked.stream ?? true,
    ...(asked.key !== undefined && { idempotencyKey: asked.key }),
  });
  return {
    name: 'operator',
    async post(asked) {
      const client = await openClient(edge);
      try {
        return { status: 200, runId: (await client.startDetached(orderOf(asked))).runId };
      } catch (reason) {
        if (isIopError(reason) && reason.kind === 'conflict') return { status: 409, runId: '' };
        throw reason;
      } finally {
        client.close();
      }
    },
    async start(asked) {
      const client = await openClient(edge);
      const { runId } = await client.startDetached(orderOf(asked));
      await client.watchRun(runId);
      return { runId, hangUp: () => client.close() };
    },
    async cancel(runId) {
      const client = await openClient(edge);
      try {
        return await client.cancelRun(runId);
      } finally {
        client.close();
      }
    },
  };
}

export function apiDoor(way: Way): Door {
  const { adapter, target } = way.served;
  const path = '/api/v1/runs';
  const ask = (asked: DetachedAsk) => {
    const { stream = true, key: idempotencyKey = '' } = asked;
    const bodyText = JSON.stringify(chatBody(target, asked));
    const body = { adapter, target, dialect: 'openai.chat', bodyText, stream, idempotencyKey };
    return send(way, { path, body });
  };
  return {
    name: 'api',
    async post(asked) {
      const { status, text } = await ask(asked).answer;
      return { status, runId: (JSON.parse(text) as { runId?: string }).runId ?? '' };
    },
    async start(asked) {
      const { runId } = await jsonOf<{ runId: string }>(ask(asked));
      const headers = { accept: 'text/event-stream' };
      const watch = send(way, { path: `${path}/${runId}/events`, headers });
      return { runId, hangUp: () => void watch.hangUp() };
    },
    async cancel(runId) {
      const { state } = await jsonOf<{ state: string }>(
        send(way, { path: `${path}/${runId}/cancel`, body: {} }),
      );
      return state.replace('RUN_STATE_', '').toLowerCase();
    },
  };
}
