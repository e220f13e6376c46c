import { auditAuthorOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { PricesBody, PricesView } from '../contract/prices.ts'
import type { Prices } from '../service/prices.ts'

const tags = ['Usage']
const path = '/api/v1/usage/prices'

/** What the company pays, so that its usage is told in money. */
export const priceRoutes: FastifyPluginCallbackTypebox<{ prices: Prices, now: () => Date }> = (app, { prices, now }, done) => {
  app.get(path, {
    config: { errors: [] },
    schema: {
      operationId: 'readUsagePrices',
      tags,
      summary: 'Reads what the company pays for credits and to its providers.',
      response: { 200: PricesView }
    }
  }, ({ actor }) => prices.read(actor.companyId))

  app.put<{ Body: PricesBody }>(path, {
    config: { errors: ['validation_error', 'validation_failed'] },
    schema: {
      operationId: 'updateUsagePrices',
      tags,
      summary: 'Says what the company pays for credits and to its providers.',
      description:
        'Nothing is charged by it: usage is told in money too, `cost` of each row, at the prices that are set when it is asked ' +
        'for. Without prices in the list no row has a cost.',
      body: PricesBody,
      response: { 200: PricesView }
    }
  }, (request) => prices.change(request.actor.companyId, request.body, { author: auditAuthorOf(request), at: now() }))
  done()
}
