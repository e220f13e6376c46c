import type { Notices } from '@dispatch/accounts'
import { NoticeView, page } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** What the user is told of. */
export const noticesRoutes: FastifyPluginCallbackTypebox<{ notices: Notices }> = (app, { notices }, done) => {
  app.get('/api/v1/my/notices', {
    config: { person: true, errors: [] },
    schema: {
      operationId: 'listMyNotices',
      tags: ['Authentication'],
      summary: 'Lists the last changes of how the user signs in, and of their keys and secrets, the newest first: 20 at most.',
      description: 'They are mailed to the user, too, where the service mails links.',
      response: { 200: page(NoticeView) }
    }
  }, async ({ actor }) => ({ data: await notices.list(actor), nextCursor: null }))
  done()
}
