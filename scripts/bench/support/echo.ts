/** A bare fastify route that answers with the body that it receives, both through the schema of a dispatch request. */
import { requestSchema } from '@dispatch/core'
import fastify from 'fastify'

const schema = requestSchema(['invoicing'])
const server = fastify({ ajv: { customOptions: { formats: { 'iso-8601': true } } } })
server.post('/', { schema: { body: schema, response: { 200: schema } } }, (request) => request.body)
const url = await server.listen({ host: '127.0.0.1', port: 0 })
process.once('SIGTERM', () => { void server.close().then(() => process.disconnect?.()) })
process.send?.({ url })
