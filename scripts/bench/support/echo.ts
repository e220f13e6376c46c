/** A bare fastify route that returns the body that it receives, both checked with the schema of a dispatch request. */
import { compile } from '@dispatch/common'
import { requestSchema } from '@dispatch/contract'
import fastify from 'fastify'
import { whenStopped } from './stop.ts'

const schema = requestSchema(['invoicing'])
const server = fastify()
// The formats in the schema are the core's, so its parser is used too.
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
