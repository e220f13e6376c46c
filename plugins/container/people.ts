import { type BruteForceGuard, createAccounts, createApiKeys, createAuthentication, createBruteForceGuard, createCompanyAccounts,
  createCompanySettings, createCredentials, createDomains, createImpersonation, createKeyAdministration, createKnownClients, createLinkMail,
  createMailedSecrets, createMeter, createNotices, createRateLimiter, createSecondFactors, createSessions, createTokens,
  createUnknownSecrets, createUsers, measureHashing, type Meter } from '@dispatch/accounts'
import { createOpenId } from '@dispatch/vendor-io'
import type { RateLimiters } from '../hooks/rate-limits.ts'
import type { Factories, Get, People } from './dependencies.ts'

/** Creates who signs in, and what they may: accounts, sessions, companies. */
export const people: Factories<keyof People> = {
  accounts: (get) => createAccounts(get('database'), get('freshness')),
  measurePasswords: () => measureHashing,
  unknownSecrets: () => createUnknownSecrets(),
  credentials: (get) =>
    createCredentials({
      accounts: get('accounts'),
      unknownSecrets: get('unknownSecrets'),
      bruteForceGuard: get('bruteForceGuard'),
      now: get('now')
    }),
  tokens: (get) => createTokens({ keys: get('signingKeys'), now: get('now') }),
  users: (get) =>
    createUsers({
      database: get('database'),
      credentials: get('credentials'),
      accessEnds: get('accessEnds'),
      verifications: get('verifications'),
      now: get('now')
    }),
  keyAdministration: (get) =>
    createKeyAdministration({ database: get('database'), accounts: get('accounts'), now: get('now'), newId: get('newId') }),
  sessions: (get) =>
    createSessions({
      database: get('database'),
      freshness: get('freshness'),
      accounts: get('accounts'),
      authentication: get('authentication'),
      tokens: get('tokens'),
      unknownSecrets: get('unknownSecrets'),
      secondFactors: get('secondFactors'),
      passwordPolicy: get('passwordPolicy'),
      verifications: get('verifications'),
      now: get('now'),
      newId: get('newId')
    }),
  openId: (get) =>
    createOpenId({ transport: get('network').transport, plainHttp: get('config').environment === 'development', now: get('now') }),
  domains: (get) => createDomains({ database: get('database'), now: get('now') }),
  mailedSecrets: (get) => createMailedSecrets(get('linkKey')),
  linkMail: (get) =>
    createLinkMail({
      database: get('database'),
      accounts: get('accounts'),
      secrets: get('mailedSecrets'),
      validate: (command) => get('pipeline').validate(command),
      dispatch: (command) => get('pipeline').dispatch(command),
      limiter: createRateLimiter(get('database'), { name: 'link-mail', quota: 200, window: 24 * 60 * minute }),
      publicUrl: get('config').publicUrl,
      showsConsole: get('config').showsConsole,
      now: get('now'),
      newId: get('newId')
    }),
  notices: (get) => createNotices({ database: get('database'), linkMail: get('linkMail'), log: get('log'), newId: get('newId') }),
  secondFactors: (get) =>
    createSecondFactors({
      database: get('database'),
      accounts: get('accounts'),
      credentials: get('credentials'),
      verifications: get('verifications'),
      bruteForceGuard: get('bruteForceGuard'),
      now: get('now')
    }),
  companies: (get) => createCompanyAccounts({ database: get('database'), now: get('now') }),
  companySettings: (get) => createCompanySettings({ database: get('database'), guard: get('network').guard, now: get('now') }),
  authentication: (get) =>
    createAuthentication({
      accounts: get('accounts'),
      credentials: get('credentials'),
      tokens: get('tokens'),
      keys: get('apiKeys'),
      unknownSecrets: get('unknownSecrets'),
      secondFactors: get('secondFactors'),
      bruteForceGuard: get('bruteForceGuard'),
      now: get('now')
    }),
  impersonation: (get) => createImpersonation({ authentication: get('authentication'), database: get('database'), now: get('now') }),
  apiKeys: (get) =>
    createApiKeys(get('database'), get('freshness'), {
      now: get('now'),
      onError: (err) => get('log').warn({ err }, 'the last use of an API key could not be recorded')
    }),
  bruteForceGuard: (get) => bruteForceGuardOf(get),
  rateLimiters: (get) => limitersOf(get),
  requestMeter: (get) => requestMeterOf(get)
}

/** In seconds. */
const minute = 60

/** A rate limiter for each limit that is not off. */
function limitersOf (get: Get<'config' | 'database'>): RateLimiters {
  const { requests: _, ...ofRoutes } = get('config').limits
  const limits = Object.entries(ofRoutes).filter(([, quota]) => quota > 0)
  return Object.fromEntries(limits.map(([name, quota]) => [name, createRateLimiter(get('database'), { name, quota, window: minute })]))
}

function requestMeterOf (get: Get<'config' | 'database' | 'log' | 'now'>): Meter | undefined {
  const { requests: quota } = get('config').limits
  return quota === 0 ? undefined : createMeter(get('database'), { name: 'requests', quota, window: minute }, {
    now: get('now'),
    onError: (err) => get('log').warn({ err }, 'other processes could not be told of the requests of a user')
  })
}

/**
 * Per minute, an address may try as many wrong passwords as it may request tokens; per 15 minutes, an account takes five times as many, and
 * a user as many wrong codes of a second factor.
 */
function bruteForceGuardOf (get: Get<'config' | 'database' | 'now'>): BruteForceGuard | undefined {
  const { config: { limits: { auth } }, database, now } = { config: get('config'), database: get('database'), now: get('now') }
  if (auth === 0) return undefined
  return createBruteForceGuard({
    addresses: createRateLimiter(database, { name: 'failures', quota: auth, window: minute }),
    accounts: createRateLimiter(database, { name: 'account', quota: 5 * auth, window: 15 * minute }),
    codes: createRateLimiter(database, { name: 'codes', quota: auth, window: 15 * minute }),
    known: createKnownClients(database, now)
  })
}
