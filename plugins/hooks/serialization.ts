import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import plugin from 'fastify-plugin'

/** Fastify's own. A schema of an answer stands alone: it refers to no other. */
const compileSerializer = SerializerSelector()()

/**
 * How answers are written: by their schemas, each compiled with its first answer. All of them together would take a fifth of the start of
 * the service.
 */
export const serializationPlugin = plugin((app, _options, done) => {
  app.setSerializerCompiler((route) => {
    let serialize: ReturnType<typeof compileSerializer> | undefined
    return (answer: unknown) => (serialize ??= compileSerializer({ ...route, httpStatus: route.httpStatus ?? '200' }))(answer)
  })
  done()
}, { name: 'serialization', fastify: '5.x' })
