import { headerText } from '../http/place-headers.ts';
import type { ResponseIdentity } from './response-object.ts';
import { ResponseWriter } from './response-writer.ts';
import type { Called } from './responses-port.ts';
import type { RunSource, Showing } from './showing.ts';
import { StreamedResponse } from './streamed-response.ts';
import { unservedWords } from './tool-plan.ts';
import { WholeResponse } from './whole-response.ts';

export interface ShowInit {
  called: Called;
  identity: ResponseIdentity;
  source: RunSource;
}

/** What the creator of a response gets of it. */
export function showFor({ called, identity, source }: ShowInit): Showing {
  const { exchange, port } = called;
  const fields = ownFields(identity);
  if (!identity.ask.stream) return new WholeResponse({ exchange, source, identity, fields });
  return new StreamedResponse({
    exchange,
    clock: port.clock,
    times: port.times,
    source,
    identity,
    startingAfter: -1,
    withholdsHead: !identity.ask.background,
    fields,
  });
}

/** What the creator of a response in the background gets who does not want to watch it. */
export function showQueued({ exchange }: Called, identity: ResponseIdentity): void {
  exchange.runId = identity.runId;
  exchange.json(200, new ResponseWriter(identity).toResponse(), ownFields(identity));
}

export function ownFields({ ask }: ResponseIdentity): readonly string[] {
  const { unserved } = ask.tools;
  return unserved.length === 0 ? [] : ['x-iop-unsupported-tools', headerText(unservedWords(unserved))];
}
