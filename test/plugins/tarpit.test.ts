import Fastify from 'fastify'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createAccess } from '../../core/packages/accounts/test/fixtures/access.ts'
import { authenticationPlugin } from '../../plugins/hooks/authentication.ts'
import { tarpitPlugin } from '../../plugins/hooks/tarpit.ts'
import { unreadBodyPlugin } from '../../plugins/hooks/unread-body.ts'

await t.test('requests that were never on a network are refused like others, and end no process', async (t) => {
  const app = Fastify()
  await app.register(authenticationPlugin, await createAccess())
  await app.register(tarpitPlugin, { limits: { burst: 1, every: 1_000, longest: 0 } })
  await app.register(unreadBodyPlugin)
  t.equal((await app.inject('/nowhere')).statusCode, 401)
  await app.inject('/nowhere')
  // Until the time that the rest of a body may take has passed.
  await pause(2_500)
  await app.close()
})
