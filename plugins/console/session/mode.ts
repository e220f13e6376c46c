import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'

/** What the console is about: what is sent for real, or tests. It stands in the address: `/console/test/…` is the console of tests. */
export type Mode = 'live' | 'test'

const ofTests = /^\/console\/test(?=[/?#]|$)/
const ofEither = /^\/console(?:\/(live|test))?(?=[/?#]|$)/

/**
 * The address of the routes that answer an address of the console: those of tests are the same as the others. What a page or a redirect
 * names stays in the mode of its request; see {@link stayInMode} and {@link inMode}.
 */
export function routedUrl ({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  return url.replace(ofTests, '/console')
}

/** The mode of the address that a browser has asked for. */
export function modeOf ({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>): Mode {
  return ofTests.test(originalUrl) ? 'test' : 'live'
}

/** An address of the console in a mode. One that names its own mode, `/console/live/…` or `/console/test/…`, stays in that one. */
export function inMode (path: string, mode: Mode): string {
  return path.replace(ofEither, (_start, own?: Mode) => (own ?? mode) === 'test' ? '/console/test' : '/console')
}

/** The address that leads to a page in one mode, from whichever. */
export function pathIn (mode: Mode, path: string): string {
  return path.replace(ofEither, `/console/${mode}`)
}

/** The same page in another mode. What is of one mode alone, such as a dispatch, leads to its list, and a draft to a new one. */
export function switchedPath (mode: Mode, path: string): string {
  return pathIn(mode, path.replace(/^(\/console\/(?:(?:dispatches|batches)(?=\/)|send(?=[/?#]))).*/, '$1'))
}

/**
 * Where the markup of a page names addresses, in attributes alone: in texts and values, quotation marks are escaped. What stands before
 * them is looked at last, because few places have the rest.
 */
const isNamed = '(?<=(?: (?:href|action|formaction|src|data-[a-z]+)="|name="next" value=")/console)'
const named = new RegExp(`/console${isNamed}(?=[/?#"])[^"]*`, 'g')
const namedLive = new RegExp(`/console${isNamed}/live(?=[/?#"])`, 'g')

/** Has redirects of the console stay in the mode of their request. */
export function stayInMode (app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string') reply.header('location', inMode(location, modeOf(request)))
    done(null, payload)
  })
}

/** The markup of a page with its links and forms in the mode of its request. */
export function withMode (request: FastifyRequest, markup: string): string {
  const mode = modeOf(request)
  // Only what names its own mode is another address there.
  if (mode === 'live') return markup.replaceAll(namedLive, '/console')
  // The head names files, which are the same in both.
  const start = Math.max(0, markup.indexOf('<body'))
  return markup.slice(0, start) + markup.slice(start).replaceAll(named, (path) => inMode(path, mode))
}
