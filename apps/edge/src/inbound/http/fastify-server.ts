import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Certificate } from './certificate.ts';
import { answerClientError } from './client-error.ts';
import type { ConnectionWatch } from './connection-watch.ts';
import type { HttpTimes } from './http-config.ts';
import { createNodeServer } from './node-server.ts';

export interface FastifyParts {
  times: HttpTimes;
  certificate: Certificate | undefined;
  watch: ConnectionWatch;
  takeUnmatched: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** The framework, with everything turned off but its router. */
export function createFastify({ times, certificate, watch, takeUnmatched }: FastifyParts): FastifyInstance {
  const server = fastify({
    logger: false,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => takeUnmatched(request, reply),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, watch),
    serverFactory: (handler) => createNodeServer(handler, times, certificate),
  });
  server.removeAllContentTypeParsers();
  // Methods that the router does not know, and what the framework would say about them.
  server.setNotFoundHandler(takeUnmatched);
  server.setErrorHandler((_error, request, reply) => takeUnmatched(request, reply));
  return server;
}
