import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pidOf, startChild, stopChild } from '../machine/child.ts';
import { findFreePort } from '../machine/free-port.ts';
import type { Target, TargetContext } from './target.ts';

/** The distribution's nginx as a plain relay: one worker, no buffering of answers, kept-alive upstream. */
export async function startNginx(context: TargetContext): Promise<Target> {
  const command = findNginx();
  const port = await findFreePort();
  const file = join(context.scratchDir, 'nginx.conf');
  writeFileSync(file, nginxConfig({ port, mockPort: context.mockPort, dir: context.scratchDir }));
  const child = startChild({
    name: 'nginx',
    cpu: context.cpu,
    command,
    args: ['-e', join(context.scratchDir, 'nginx-error.log'), '-c', file],
    logFd: context.openLog('nginx'),
  });
  const pid = pidOf(child, 'nginx');
  return {
    name: 'nginx',
    place: { port, path: '/v1/chat/completions', headers: {}, pids: [pid] },
    parts: [{ name: 'nginx', pid }],
    stop: () => stopChild(child),
  };
}

function findNginx(): string {
  try {
    return execFileSync('which', ['nginx'], { env: { PATH: `${process.env.PATH}:/usr/sbin` } })
      .toString()
      .trim();
  } catch {
    throw new Error('nginx is not installed (apt-get install nginx-light), or leave it out by --targets');
  }
}

function nginxConfig(options: { port: number; mockPort: number; dir: string }): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${options.dir}/nginx-${kind};`)
    .join('\n  ');
  return `${user}
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${options.dir}/nginx.pid;
events { worker_connections 20000; }
http {
  access_log off;
  ${temporary}
  client_body_buffer_size 64k;
  client_max_body_size 64m;
  keepalive_requests 100000000;
  upstream mock { server 127.0.0.1:${options.mockPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${options.port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`;
}
