import type { FastifyPluginAsync } from 'fastify'
import { contactsPages } from './contacts.ts'
import { ownDetailsPages } from './own-details.ts'

export const pages: FastifyPluginAsync = async (app) => {
  await app.register(contactsPages)
  await app.register(ownDetailsPages)
}
