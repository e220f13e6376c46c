/** A bare fastify route that answers with the body that it receives, both through the schema of a dispatch request. */
import { compile } from '@dispatch/common'
import { requestSchema } from '@dispatch/core'
import fastify from 'fastify'
import { whenStopped } from './stop.ts'

const schema = requestSchema(['invoicing'])
const server = fastify()
// The formats of the schema are the core's: so is the reader.
server.setValidatorCompiler<typeof schema>(({ schema }) => {
  const check = compile(schema)
  return (value: unknown) => {
    const fit = check(value)
    return fit.ok ? { value: fit.value } : { error: new Error(JSON.stringify(fit.problems)) }
  }
})
server.post('/', { schema: { body: schema, response: { 200: schema } } }, (request) => request.body)
const url = await server.listen({ host: '127.0.0.1', port: 0 })
whenStopped(() => server.close())
process.send?.({ url })
