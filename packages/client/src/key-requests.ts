import {
  CreateKeyRequestSchema,
  create,
  type KeyInfo,
  ListKeysRequestSchema,
  RevokeKeyRequestSchema,
  SetKeyRequestSchema,
} from '@iop/wire';
import { type KeyPolicy, type KeyView, toKeyView, toPolicy } from './key-view.ts';
import type { OperatorRequests } from './requests.ts';

/** What an operator can ask about API keys. */
export interface KeyRequests {
  /** `secret` is shown this once. Without a policy nothing limits it. */
  createKey(name: string, policy?: KeyPolicy): Promise<{ key: KeyView; secret: string }>;
  listKeys(): Promise<KeyView[]>;
  /** Puts the whole policy in force; without a name that stays. */
  setKey(id: string, policy: KeyPolicy, name?: string): Promise<KeyView>;
  revokeKey(id: string): Promise<KeyView>;
}

export function createKeyRequests(requests: OperatorRequests): KeyRequests {
  return {
    async createKey(name, policy) {
      const value = create(CreateKeyRequestSchema, {
        name,
        ...(policy === undefined ? {} : { policy: toPolicy(policy) }),
      });
      const answer = await requests.ask({ case: 'createKey', value }, 'createKey');
      return { key: viewOf(answer), secret: answer.secret };
    },
    async listKeys() {
      const request = { case: 'listKeys', value: create(ListKeysRequestSchema) } as const;
      return (await requests.ask(request, 'listKeys')).keys.map(toKeyView);
    },
    async setKey(id, policy, name = '') {
      const value = create(SetKeyRequestSchema, { id, policy: toPolicy(policy), name });
      return viewOf(await requests.ask({ case: 'setKey', value }, 'setKey'));
    },
    async revokeKey(id) {
      const value = create(RevokeKeyRequestSchema, { id });
      return viewOf(await requests.ask({ case: 'revokeKey', value }, 'revokeKey'));
    },
  };
}

/** A message inside an answer is optional on the wire only. */
function viewOf({ key }: { key?: KeyInfo | undefined }): KeyView {
  if (key === undefined) throw new TypeError('the Edge answered without the key itself');
  return toKeyView(key);
}
