import type { Link, LinkHandlers } from '@iop/link';
import type { Log } from '@iop/shell';
import { create, ProtocolErrorSchema } from '@iop/wire';
import type { Edge } from '../../core/edge.ts';
import { OperatorDesk } from './operator-desk.ts';

export interface OperatorLinksDeps {
  edge: Edge;
  log: Log;
  /** Of the request of a run. */
  bodyLimitBytes: number;
}

/** Takes links of operators, over TCP and the local socket alike. */
export function createOperatorLinks({ edge, log, bodyLimitBytes }: OperatorLinksDeps): {
  open(link: Link): LinkHandlers;
} {
  return {
    open(link) {
      const who = { operator: link.peer.name, address: link.peer.transport.address };
      log.debug(who, 'operator linked');
      const desk = new OperatorDesk({ edge, link, bodyLimitBytes });
      return {
        onMessage(message) {
          if (message.case === 'operatorRequest') desk.ask(message.value);
          else if (message.case === 'operatorBody') desk.bodyPart(message.value);
          else if (message.case === 'operatorStop') desk.leave(message.value.id);
          else if (message.case !== 'protocolError') complain(link, message.case);
        },
        onDrain: () => desk.drained(),
        onClosed(outcome) {
          log.debug({ ...who, why: outcome.kind }, 'operator link closed');
          desk.leaveAll();
        },
      };
    },
  };
}

function complain(link: Link, kind: string): void {
  const value = {
    code: 'protocol.unexpected-message',
    message: `an operator does not send ${kind}`,
    fatal: false,
  };
  link.send({ case: 'protocolError', value: create(ProtocolErrorSchema, value) });
}
