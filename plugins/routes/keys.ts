import type { Problem } from '@dispatch/common'
import { type Account, type Accounts, type Actor, type ApiKeyFilter, type ApiKeyRow, type Database, digestOf, DispatchError, insertApiKey,
  KeyQuery, KeyView, listApiKeys, makeKey, mayImpersonate, mayUse, type NewApiKey, NewKeyBody, NewKeyView, Nothing, page, refusal,
  requirePerson, revokeApiKey, rolesUpTo, shownOf } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { nextCursorOf } from './paging.ts'
import { resourceNotFound, uuidIn } from './path-parameters.ts'

/** More keys than these no user needs at once. */
const most = 100

type Options = { database: Database, accounts: Accounts, now: () => Date, newId: () => string }

/** Keys with which programs act for users: made and revoked by people alone. */
export const keysRoutes: FastifyPluginCallbackTypebox<Options> = (app, { database, accounts, now, newId }, done) => {
  app.post('/api/v1/keys', {
    config: { errors: ['not_found', 'conflict', 'validation_failed'] },
    schema: {
      operationId: 'createKey',
      tags: ['Keys'],
      summary: 'Makes an API key and shows it once: for oneself, or as an admin for a user of the company.',
      body: NewKeyBody,
      response: { 201: NewKeyView }
    }
  }, async (request, reply) => {
    requirePerson(request.actor)
    if (request.actor.impersonatorId !== undefined) {
      throw new DispatchError('forbidden', 'Who acts as somebody else makes no keys: they would outlast it.')
    }
    const key = keyOf(await holderOf(accounts, request.actor, request.body.userId), request.body, { keyId: newId(), at: now() })
    if (!await insertApiKey(database, key, { author: auditAuthorOf(request), most, at: now() })) {
      throw new DispatchError('conflict', `The user has ${most} keys already: revoke one that is not needed.`)
    }
    return reply.code(201).header('cache-control', 'no-store').send({
      ...viewOf({ ...rowOf(key), created_at: now(), last_used_at: null }),
      key: key.secret
    })
  })

  app.get<{ Querystring: KeyQuery }>('/api/v1/keys', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listKeys',
      tags: ['Keys'],
      summary: 'Lists the API keys that are not revoked, the newest first: one\'s own, or as an admin those of the company.',
      querystring: KeyQuery,
      response: { 200: page(KeyView) }
    }
  }, async ({ actor, query }) => {
    const { limit = 25, cursor, userId } = query
    const rows = await listApiKeys(database, { ...userId === undefined ? {} : { userId }, ...holdersFor(actor) }, {
      limit,
      ...cursor === undefined ? {} : { after: cursor }
    })
    return { data: rows.map(viewOf), nextCursor: nextCursorOf(rows, limit, ({ key_id: id }) => id) }
  })

  app.delete<{ Params: { id: string } }>('/api/v1/keys/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'deleteKey',
      tags: ['Keys'],
      summary: 'Revokes an API key: the next request with it is refused, in every process.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    requirePerson(request.actor)
    const { actor, params } = request
    const keyId = uuidIn(params.id, 'key')
    if (!await revokeApiKey(database, holdersFor(actor), keyId, { author: auditAuthorOf(request), at: now() })) {
      throw resourceNotFound('key', params.id)
    }
    return reply.code(204).send(null)
  })
  done()
}

/** Members see and revoke their own alone, admins those of nobody above them. */
function holdersFor ({ companyId, userId, role }: Actor): ApiKeyFilter {
  return { companyId, ...role === 'member' ? { userId } : { roles: rolesUpTo(role) } }
}

/** Whose key it is to be. */
async function holderOf (accounts: Accounts, actor: Actor, userId = actor.userId): Promise<Account> {
  const account = await accounts.byId(userId)
  if (account?.companyId !== actor.companyId) throw resourceNotFound('user', String(userId))
  // Whoever makes a key knows it, and can act with it.
  if (userId !== actor.userId && !mayImpersonate(actor, account)) {
    throw new DispatchError('forbidden',
      'A key of another user is made by an admin of the company, and of nobody whose role is above their own or who has services ' +
        'that they do not have.')
  }
  return account
}

type Made = NewApiKey & { secret: string }

function keyOf (
  { userId, companyId, services: usable }: Account,
  { name, mode, services, expiresAt }: NewKeyBody,
  { keyId, at }: { keyId: string, at: Date }
): Made {
  const expiry = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) }
  const problems: Problem[] = (services ?? []).flatMap((service, index) =>
    mayUse({ services: usable }, service)
      ? []
      : [{ path: `/services/${index}`, code: 'not_permitted', message: `The user may not use "${service}".` }]
  )
  if (expiry.expiresAt !== undefined && expiry.expiresAt <= at) {
    problems.push({ path: '/expiresAt', code: 'past', message: 'Must lie in the future.' })
  }
  if (problems.length > 0) throw refusal('validation_failed', problems)
  const { secret } = makeKey(mode)
  return {
    keyId,
    companyId,
    userId,
    name,
    mode,
    ...services === undefined ? {} : { services },
    ...expiry,
    ...shownOf(secret),
    digest: digestOf(secret),
    secret
  }
}

function rowOf ({ keyId, companyId, userId, name, mode, services, beginning, ending, expiresAt }: Made): Omit<
  ApiKeyRow,
  'created_at' | 'last_used_at'
> {
  return {
    key_id: keyId,
    company_id: companyId,
    user_id: userId,
    name,
    mode,
    services: services === undefined ? null : [...services],
    beginning,
    ending,
    expires_at: expiresAt ?? null
  }
}

function viewOf (row: ApiKeyRow): KeyView {
  return {
    id: row.key_id,
    name: row.name,
    mode: row.mode,
    userId: row.user_id,
    services: row.services,
    prefix: row.beginning,
    last4: row.ending,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null
  }
}
