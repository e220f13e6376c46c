import type { FastifyRequest } from 'fastify'
import { languages, type Words } from '../language/language.ts'
import { readCookie } from './cookies.ts'

/** The language that the reader has chosen, else the first of the browser's that the console speaks, else English. */
export function languageOf (request: FastifyRequest): Words {
  const requested = (request.headers['accept-language'] ?? '').split(',').map((entry) => entry.trim().slice(0, 2).toLowerCase())
  const found = [readCookie(request, 'language') ?? '', ...requested].find((name) => Object.hasOwn(languages, name))
  return languages[found === 'fr' ? 'fr' : 'en']
}
