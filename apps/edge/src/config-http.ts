import { port, section, sizeBytes } from '@iop/shell';
import { z } from 'zod';
import { isNetwork } from './inbound/http/client.ts';

const tls = z.strictObject({
  cert: z
    .string()
    .min(1)
    .describe(
      'HTTPS instead of HTTP: PEM file of the certificate and its chain. A new one needs no restart.',
    ),
  key: z.string().min(1).describe('With `cert`: PEM file of its key.'),
});

/** `http:` of edge.yaml. */
export const httpSection = section({
  host: z.string().min(1).default('127.0.0.1').describe('Where callers of the OpenAI door connect.'),
  port: port.default(7480),
  auth: z.enum(['keys', 'none']).default('keys').describe('`none` is accepted on loopback only.'),
  cors_origins: z
    .array(z.string().min(1))
    .default([])
    .describe('Origins of browsers that may call; "*": all.'),
  body_limit: sizeBytes.prefault('32MiB').describe('Longest request body.'),
  tls: tls.optional().describe('HTTPS instead of HTTP.'),
  trusted_proxies: z
    .array(z.string().refine(isNetwork, 'expected an address or a network such as 10.0.0.0/8'))
    .default([])
    .describe('Addresses and networks of proxies whose X-Forwarded-For and -Host count.'),
  base_path: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*$/, 'expected a path such as /iop, without a slash at its end')
    .default('')
    .describe('Before every path, probes included: /iop.'),
});
