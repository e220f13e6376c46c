import { createFirstCompanies, hashPassword, platform } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import { providedNames } from '@dispatch/services'

/** The accounts of a development installation. Their passwords are public. */
export const demo = {
  admin: { email: 'demo@example.com', password: 'demo-password' },
  operator: { email: 'operator@example.com', password: 'operator-password' },
  credits: 100,
  provider: 'simulator'
} as const

/**
 * Fills a new database for development: the platform with its operator, and the company "Demo" ready to dispatch. Answers whether it was
 * new.
 */
export async function seedDemo (database: Database, now: Date): Promise<boolean> {
  const { admin, operator } = demo
  return createFirstCompanies(database, [
    {
      name: platform.name,
      credits: 0,
      users: [{ email: operator.email, role: 'operator', services: [], passwordHash: await hashPassword(operator.password) }]
    },
    {
      name: 'Demo',
      credits: demo.credits,
      users: [{ email: admin.email, role: 'admin', services: ['*'], passwordHash: await hashPassword(admin.password) }],
      defaultProvider: { code: demo.provider, services: providedNames, settings: { allowedSenders: [admin.email] } }
    }
  ], now)
}
