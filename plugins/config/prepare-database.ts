import { seedDemo } from '@dispatch/core'
import type { App, Get } from '../container.ts'
import { refuseDevelopmentDefaults } from './production-checks.ts'

/**
 * Brings in what features have for a database. In development it seeds a new database with demo data; production refuses a database with
 * demo data.
 */
export async function prepareDatabase ({ get, features }: Pick<App, 'features'> & {
  get: Get<'config' | 'accounts' | 'database' | 'now' | 'log'>
}): Promise<void> {
  if (get('config').environment === 'production') await refuseDevelopmentDefaults(get('config'), get('accounts'))
  for (const { prepare } of features) await prepare?.()
  if (get('config').environment === 'development' && await seedDemo(get('database'), get('now')())) {
    get('log').info({}, 'company "Demo" created')
  }
}
