import { Uuid } from '@dispatch/common'
import { Nothing, page } from '@dispatch/contract'
import { auditAuthorOf, pageOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ContactBody, ContactsQuery, ContactView, OwnDetails } from '../contract/contacts.ts'
import type { Contacts } from '../service/contacts.ts'

const tags = ['Contacts']
const Params = Type.Object({ id: Uuid })

/** To whom documents go, and who a company is on them. Both fill forms; a request carries what it needs itself. */
export const contactsRoutes: FastifyPluginCallbackTypebox<{ contacts: Contacts }> = (app, { contacts }, done) => {
  app.get('/api/v1/contacts', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listContacts',
      tags,
      summary: 'Lists the contacts of the company, sorted by name.',
      querystring: ContactsQuery,
      response: { 200: page(ContactView) }
    }
  }, async ({ actor: { companyId }, query: { q = '', limit = 25, cursor } }) => {
    const found = await contacts.list(companyId, { q, limit: limit + 1, ...cursor !== undefined && { after: cursor } })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.post('/api/v1/contacts', {
    config: { errors: ['validation_error', 'conflict'] },
    schema: {
      operationId: 'createContact',
      tags,
      summary: 'Keeps a contact, of whom a company has 10,000 at most.',
      body: ContactBody,
      response: { 201: ContactView }
    }
  }, async (request, reply) => reply.code(201).send(await contacts.add(auditAuthorOf(request), request.body)))

  app.get('/api/v1/contacts/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readContact', tags, summary: 'Reads a contact.', params: Params, response: { 200: ContactView } }
  }, async ({ actor: { companyId }, params: { id } }) => contacts.read(companyId, id))

  app.put('/api/v1/contacts/:id', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'updateContact',
      tags,
      summary: 'Replaces what is kept of a contact.',
      params: Params,
      body: ContactBody,
      response: { 200: ContactView }
    }
  }, async (request) => contacts.change(auditAuthorOf(request), request.params.id, request.body))

  app.delete('/api/v1/contacts/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'deleteContact', tags, summary: 'Deletes a contact.', params: Params, response: { 204: Nothing } }
  }, async (request, reply) => {
    await contacts.remove(auditAuthorOf(request), request.params.id)
    return reply.code(204).send(null)
  })

  app.get('/api/v1/company/details', {
    config: { errors: [] },
    schema: {
      operationId: 'readOwnDetails',
      tags,
      summary: 'Reads who the company is on the documents that it sends; empty where nobody has said it.',
      response: { 200: OwnDetails }
    }
  }, async ({ actor: { companyId } }) => contacts.own(companyId))

  app.put('/api/v1/company/details', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'updateOwnDetails',
      tags,
      summary: 'Sets who the company is on the documents that it sends (admins).',
      body: OwnDetails,
      response: { 200: OwnDetails }
    }
  }, async (request) => contacts.setOwn(auditAuthorOf(request), request.body))
  done()
}
