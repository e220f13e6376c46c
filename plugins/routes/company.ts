import type { CompanySettings } from '@dispatch/accounts'
import { LimitsView, SettingsBody, SettingsView } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { RateLimiters } from '../hooks/rate-limits.ts'
import { auditAuthorOf } from './audit-author.ts'

/** `limits`: in a minute; 0 is none. */
type Options = { settings: CompanySettings, limits: Readonly<Record<keyof RateLimiters | 'requests', number>> }

/** What a company decides of itself: from where its users may call, and when and where it is warned; and how much it may ask for. */
export const companyRoutes: FastifyPluginCallbackTypebox<Options> = (app, { settings, limits }, done) => {
  app.get('/api/v1/company', {
    config: { scopes: ['configuration'], roles: ['admin', 'operator'], errors: [] },
    schema: {
      operationId: 'readSettings',
      tags: ['Company'],
      summary: 'Reads the settings of the company (admins).',
      response: { 200: SettingsView }
    }
  }, ({ actor }) => {
    return settings.read(actor)
  })

  app.get('/api/v1/company/limits', {
    config: { scopes: 'any', errors: [] },
    schema: {
      operationId: 'readLimits',
      tags: ['Company'],
      summary: 'Reads how much of each kind the service takes in a minute.',
      response: { 200: LimitsView }
    }
  }, () => ({
    signInsPerMinute: limitOf(limits.auth),
    dispatchesPerMinute: limitOf(limits.dispatch),
    validationsPerMinute: limitOf(limits.validation),
    requestsPerMinute: limitOf(limits.requests)
  }))

  app.put('/api/v1/company', {
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['validation_failed'] },
    schema: {
      operationId: 'updateSettings',
      tags: ['Company'],
      summary: 'Changes the settings of the company (admins); a field that is left out does not change.',
      description:
        'A list of addresses that would shut out the client of this very request is refused unless "force" is true. The company is ' +
        'told once when fewer credits than "lowCredit" are free, by a signed callback of the type `company.credits_low` to ' +
        '"notifyUrl"; more credits that lift them to it again, and another threshold, arm the warning anew.',
      body: SettingsBody,
      response: { 200: SettingsView }
    }
  }, (request) => {
    return settings.change({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
  })
  done()
}

/** In the settings of the service 0 is no limit. */
function limitOf (quota: number): number | null {
  return quota === 0 ? null : quota
}
