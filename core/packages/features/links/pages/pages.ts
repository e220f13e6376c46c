import type { FastifyPluginAsync } from 'fastify'
import { forgottenPages } from './forgotten.ts'
import { invitationsPages } from './invitations.ts'
import { linkPages } from './link.ts'
import { passwordLinkPages } from './password-link.ts'

/** The pages of links: for those who make them, and for those who have one. */
export const pages: FastifyPluginAsync = async (app) => {
  await app.register(linkPages)
  await app.register(forgottenPages)
  await app.register(invitationsPages)
  await app.register(passwordLinkPages)
}
