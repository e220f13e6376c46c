import { lazyUnlessFailed } from '@dispatch/common'
import type { FastifyPluginCallback } from 'fastify'
import { readFile } from 'node:fs/promises'
import { sendTagged, tagged } from '../hooks/precompressed.ts'

/** Where the library of the pages has its files. */
const folder = new URL('static/', import.meta.resolve('@fastify/swagger-ui'))

/** Those that a page loads, which have 2 MB: they are read when somebody first opens one. */
const types: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8'
}

/** The large files of the pages on which requests are tried, compressed. */
export const tryFiles: FastifyPluginCallback = (app, _options, done) => {
  for (const [name, type] of Object.entries(types)) {
    const file = lazyUnlessFailed(async () => tagged(await readFile(new URL(name, folder))))
    app.get(`/docs/try/static/${name}`, { schema: { hide: true } }, async (request, reply) => {
      const found = await file()
      return sendTagged(request, reply.type(type), found)
    })
  }
  done()
}
