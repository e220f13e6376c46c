import type { SessionClient } from '@dispatch/accounts'
import type { FastifyRequest } from 'fastify'
import { languageOf } from './language.ts'

/** Where a person signs in from, and in which language they read the console. */
export function clientOf (request: FastifyRequest): SessionClient {
  const { ip: address, headers: { 'user-agent': browser = '' } } = request
  return { address, browser, language: languageOf(request).code === 'fr' ? 'fr' : 'en' }
}
