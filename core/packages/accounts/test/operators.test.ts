import { createOperator, passwordMatches, recoverOperator, resetOperator } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { migrate } from '@dispatch/core'
import { openDatabase } from '@dispatch/database'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { accessEndsOf } from '../../../../plugins/features/feature.ts'
import { findFeatures } from '../../../../plugins/features/find-features.ts'
import { has } from '../../../../test/support/matching.ts'
import { testDatabase } from '../../../../test/support/postgres.ts'

const { url } = await testDatabase(t)
const database = openDatabase({ connectionString: url }, { onError: (error) => t.fail(error.message) })
t.teardown(() => database.close())
await migrate(database)
const features = await findFeatures()
const ends = accessEndsOf(features)
const factors = features.flatMap(({ verification }) => verification ?? [])
const now = new Date('2026-03-14T09:30:00Z')
const companies = () => database.owner.selectFrom('companies').select(['company_id', 'name']).orderBy('company_id').execute()
const password = 'a good password'

await t.test('what cannot be an operator is refused, and nothing is made', async (t) => {
  const refused = [
    [{ email: 'nobody', password }, 'validation_error', /\/email: Not a valid e-mail address/],
    [{ email: 'ada@example.com', password: '' }, 'validation_error', /\/password: Needs at least 10 characters/],
    [{ email: 'ada@example.com', password: 'Ada@Example.com' }, 'validation_failed', /must differ from the e-mail address/]
  ] as const
  for (const [given, word, message] of refused) await t.rejects(createOperator(database, given, now), { word, message })
  t.strictSame(await companies(), [])
})

await t.test('operators that are made at once on a new database are of one platform, company 1, whatever ' +
  'was rolled back before', async (t) => {
  await t.rejects(database.owner.transaction().execute(async (queries) => {
    await queries.insertInto('companies').values({ name: 'Rolled back', created_at: now }).execute()
    throw new Error('It is rolled back.')
  }))
  const made = await Promise.all(
    ['ada', 'grace', 'joan'].map((name) => createOperator(database, { email: `${name}@example.com`, password }, now))
  )
  t.equal(new Set(made.map(({ userId }) => userId)).size, 3)
  t.strictSame(await companies(), [{ company_id: 1, name: 'Platform' }])
  const { company_id: next } = await database.owner.insertInto('companies').values({ name: 'The next', created_at: now }).returning(
    'company_id'
  ).executeTakeFirstOrThrow()
  t.ok(next > 1, 'the next company has an id of its own')
  has(t, await database.owner.selectFrom('audit').select(['action', 'company_id', 'user_id', 'facts']).orderBy('audit_id').execute(), [
    { action: 'company.created', company_id: 1, user_id: null },
    { action: 'user.created', facts: { role: 'operator' } },
    { action: 'user.created' },
    { action: 'user.created' }
  ])
})

await t.test('an e-mail address that somebody has is refused', async (t) => {
  await t.rejects(createOperator(database, { email: 'ADA@example.com', password }, now), {
    word: 'conflict',
    message: 'The platform already has a user with the e-mail address ada@example.com.'
  })
})

await t.test('an operator that somebody else has got into gets another password, and nothing else lets anybody in', async (t) => {
  const { userId } = await createOperator(database, { email: 'robbed@example.com', password }, now)
  await database.owner.insertInto('api_keys').values({
    key_id: randomUUID(),
    company_id: 1,
    user_id: userId,
    name: 'thief',
    mode: 'live',
    services: null,
    digest: Buffer.from('any'),
    beginning: 'dk_live_0000',
    ending: '0000',
    created_at: now,
    expires_at: null,
    last_used_at: null,
    revoked_at: null
  }).execute()
  await t.rejects(recoverOperator(database, ends, { email: 'robbed@example.com', password: 'short' }, now), {
    name: 'DispatchError',
    word: 'validation_error'
  })
  await t.rejects(recoverOperator(database, ends, { email: 'nobody@example.com', password: 'another good one' }, now), {
    name: 'DispatchError',
    word: 'not_found'
  })
  t.same(await recoverOperator(database, ends, { email: 'ROBBED@example.com', password: 'another good one' }, now), { userId, keys: 1 })
  const { password_hash: hash } = await database.owner.selectFrom('users').select('password_hash').where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  t.ok(await passwordMatches(hash, 'another good one'))
  has(t, await database.owner.selectFrom('audit').select(['action', 'user_id']).orderBy('audit_id', 'desc').executeTakeFirst(), {
    action: 'access.reset',
    user_id: null
  })
})

await t.test('who has lost the second factor is let in again, which is in the audit log', async (t) => {
  await t.rejects(resetOperator(database, factors, 'nobody@example.com', now), DispatchError)
  await t.rejects(resetOperator(database, factors, 'ada@example.com', now), DispatchError)
  const ofUser = database.owner.updateTable('users').set({ second_factor_at: now }).where('email', '=', 'ada@example.com')
  const { user_id: userId } = await ofUser.returning('user_id').executeTakeFirstOrThrow()
  const sealed = JSON.stringify({ v: 1, kid: '', wrappedKey: '', sealed: '' })
  await database.pool.query('insert into authenticators (user_id, company_id, sealed, confirmed_at) values ($1, 1, $2, $3)', [userId,
    sealed, now])
  t.same(await resetOperator(database, factors, 'ADA@example.com', now), { userId })
  has(t, await database.owner.selectFrom('users').select(['second_factor_at', 'password_version']).where('user_id', '=', userId)
    .executeTakeFirst(), { second_factor_at: null, password_version: 2 })
  t.same((await database.pool.query('select user_id from authenticators')).rows, [])
  has(t, await database.owner.selectFrom('audit').select(['action', 'user_id', 'object_id']).orderBy('audit_id', 'desc').executeTakeFirst(),
    {
      action: 'second_factor.reset',
      user_id: null,
      object_id: String(userId)
    })
})
