import { IopError } from '@iop/domain';
import { type DescMessage, fromJson, type JsonValue, type MessageShape } from '@iop/wire';
import type { Exchange } from '../http/exchange.ts';
import { parseJsonBody } from '../http/json-body.ts';

/** A request to the management API, its body whole. */
export class ApiCall {
  static readonly mostPos = 0xff_ff_ff_ff;
  readonly exchange: Exchange;
  /** What `:id` of the path stands for; empty: the path has none. */
  readonly id: string;
  readonly body: Uint8Array;
  readonly #query: URLSearchParams;

  constructor(exchange: Exchange, { id, body }: { id: string; body: Uint8Array }) {
    this.exchange = exchange;
    this.id = id;
    this.body = body;
    const url = exchange.req.url ?? '';
    const at = url.indexOf('?');
    this.#query = new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
  }

  /** Of the query; empty: it is not there. */
  text(name: string): string {
    return this.#query.get(name) ?? '';
  }

  /** Of the query; 0: it is not there. @throws IopError `invalid` */
  number(name: string, most: number): number {
    const text = this.text(name);
    if (text === '') return 0;
    const number = Number(text);
    if (/^\d+$/.test(text) && number <= most) return number;
    throw invalid('request.query', `?${name} is a whole number from 0 to ${most}, not ${text.slice(0, 40)}`);
  }

  /** The body as a message in protobuf JSON; nothing is as good as `{}`. @throws IopError `invalid` */
  message<S extends DescMessage>(schema: S): MessageShape<S> {
    if (this.body.length === 0) return fromJson(schema, {});
    const parsed = parseJsonBody(this.body);
    if (parsed.kind === 'refused') throw invalid('request.json', parsed.refusal.message);
    try {
      return fromJson(schema, parsed.fields as JsonValue);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw invalid('request.json', `The request body is no ${schema.name}: ${reason}`);
    }
  }
}

export function invalid(code: string, message: string): IopError {
  return new IopError({ kind: 'invalid', code, message });
}
