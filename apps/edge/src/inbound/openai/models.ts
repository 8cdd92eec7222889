import type { EdgeDoor, ModelInfo } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import { unknownModel } from '../http/to-http.ts';

export function answerModels(exchange: Exchange, edge: Pick<EdgeDoor, 'models'>, keyId: string): void {
  exchange.json(200, { object: 'list', data: edge.models(keyId).map(toModel) });
}

/** @param name may hold slashes: `adapter/name`, `Qwen/Qwen3-8B` */
export function answerModel(
  exchange: Exchange,
  edge: Pick<EdgeDoor, 'model'>,
  { name, keyId }: { name: string; keyId: string },
): void {
  const model = edge.model(name, keyId);
  if (model === undefined) exchange.refuse(unknownModel(name, []));
  else exchange.json(200, toModel(model));
}

function toModel({ name, createdS }: ModelInfo) {
  return { id: name, object: 'model', created: createdS, owned_by: 'iop' };
}
