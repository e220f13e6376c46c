import { requireRole, requireService } from '@dispatch/accounts'
import type { Role } from '@dispatch/contract'
import t from 'tap'
import { mayImpersonate, mayUse, rolesUpTo } from '../access/permissions.ts'

await t.test('a service is allowed by name or by the star, by nothing else', (t) => {
  t.equal(mayUse({ services: ['invoicing', 'email'] }, 'email'), true)
  t.equal(mayUse({ services: ['*'] }, 'postal'), true)
  for (const services of [[], ['invoicing'], ['e*'], ['EMAIL'], ['email ']]) t.equal(mayUse({ services }, 'email'), false)
  t.end()
})

await t.test('a service that is not allowed is forbidden, by its name', (t) => {
  t.doesNotThrow(() => requireService({ services: ['sms'] }, 'sms'))
  t.throws(() => requireService({ services: ['sms'] }, 'postal'), { word: 'forbidden', status: 403, message: /"postal"/ })
  t.end()
})

await t.test('a role that is not listed is forbidden, an operator too', (t) => {
  t.doesNotThrow(() => requireRole({ role: 'admin' }, 'admin', 'operator'))
  t.throws(() => requireRole({ role: 'member' }, 'admin', 'operator'), {
    word: 'forbidden',
    message: 'This needs the role admin or operator, but the user is member.'
  })
  t.throws(() => requireRole({ role: 'operator' }, 'admin'), { word: 'forbidden', message: /role admin,/ })
  t.end()
})

await t.test('operators act as anybody, admins as users of their company, nobody above their own role', (t) => {
  const user = (role: Role, companyId: number, services = ['*']) => ({ userId: 1, role, companyId, services })
  t.equal(mayImpersonate(user('operator', 1), user('admin', 2)), true)
  t.equal(mayImpersonate(user('operator', 1), user('operator', 1)), true)
  t.equal(mayImpersonate(user('admin', 2), user('member', 2)), true)
  t.equal(mayImpersonate(user('admin', 2), user('admin', 2)), true)
  t.equal(mayImpersonate(user('admin', 2), user('member', 3)), false)
  t.equal(mayImpersonate(user('admin', 1), user('operator', 1)), false)
  t.equal(mayImpersonate(user('member', 2), user('member', 2)), false)
  t.equal(mayImpersonate(user('admin', 2, ['sms', 'email']), user('member', 2, ['email'])), true)
  t.equal(mayImpersonate(user('admin', 2, ['sms', 'email']), user('member', 2, ['email', 'postal'])), false,
    'nor with services that they do not have')
  t.equal(mayImpersonate(user('admin', 2, ['sms', 'email']), user('member', 2)), false)
  t.equal(mayImpersonate(user('operator', 1, []), user('member', 2)), true)
  t.end()
})

await t.test('whose holders a role may change: its own and those below', (t) => {
  t.strictSame(rolesUpTo('member'), ['member'])
  t.strictSame(rolesUpTo('admin'), ['member', 'admin'])
  t.strictSame(rolesUpTo('operator'), ['member', 'admin', 'operator'])
  t.end()
})
