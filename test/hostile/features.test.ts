import { keyScopes, type Role } from '@dispatch/contract'
import t from 'tap'
import { type Login, startService } from '../support/service.ts'
import { hasNoFault, isError, routesOf } from './support.ts'

/** What each feature says of itself is held against what it does: whoever adds one writes none of this. */
const service = await startService(t)
const { app, send } = service
const company = await service.company('featured')
const elsewhere = await service.company('elsewhere')
const routes = await routesOf(app)

const people: Readonly<Record<Role, Login>> = { admin: company.admin, member: company.member, operator: elsewhere.operator }

/** A key of each scope. Of the platform there are none. */
const keys = new Map(
  await Promise.all(keyScopes.filter((scope) => scope !== 'platform').map(async (scope) => {
    const { body } = await send('POST', '/api/v1/keys', { body: { name: scope, mode: 'live', scopes: [scope] } }, company.admin)
    return [scope, String(body.key)] as const
  }))
)

/** A number and a name of nothing. */
const nothing = '2147483647'

for (const { name, permissions = {}, tables = {}, isolation, audit = {}, menu = [] } of app.features) {
  await t.test(`the feature "${name}" lets in whom it says, and nobody else`, async (t) => {
    const own = routes.filter(({ config }) => config.feature === name)
    t.same([...new Set(own.map(({ operation }) => operation))].sort(), Object.keys(permissions).sort(), 'each operation has a permission')
    for (const { method, url, operation = '', config } of own) {
      const { public: isOpen, roles, scopes = [], person } = permissions[operation] ?? {}
      if (isOpen === true) continue
      // A stream that is let in lasts for as long as it may.
      const path = url.replaceAll(/:\w+/g, nothing) + (config.lasting === true ? '?seconds=1' : '')
      isError(t, await send(method, path, {}, null), 'unauthorized', `${operation} of nobody`)
      for (const [role, login] of Object.entries(people)) {
        const { status } = await send(method, path, {}, login)
        t.equal(status === 403, roles !== undefined && !roles.includes(role as Role), `${operation} of ${role}: ${status}`)
      }
      for (const [scope, key] of keys) {
        const headers = { authorization: `Bearer ${key}` }
        const { status } = await send(method, path, { headers }, null)
        const isLetIn = person !== true && (scopes === 'any' || scopes.includes(scope)) && (roles === undefined || roles.includes('admin'))
        t.equal(status === 403, !isLetIn, `${operation} of a key to ${scope}: ${status}`)
      }
    }
  })

  await t.test(`the feature "${name}" has rows of companies where it says so, and words in two languages`, (t) => {
    t.equal(isolation === undefined, !Object.values(tables).includes('company'), 'its tables of companies can be filled by the tests')
    for (const { label } of menu) t.ok(label.en !== '' && label.fr !== '')
    for (const [action, { en, fr }] of Object.entries(audit)) t.ok(en !== '' && fr !== '', action)
    t.end()
  })
}

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})
