import { type SettingsForm, withWords } from '@dispatch/plugins/console'
import { ContactBody, OwnDetails } from '../contract/contacts.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

export const wordsOf = withWords({ en, fr })

/** The fields of a contact, called as the same data of templates are. */
export const contactForm = named(ContactBody)
export const ownForm = named(OwnDetails as unknown as SettingsForm)

function named ({ properties = {}, required = [] }: SettingsForm): SettingsForm {
  return {
    required,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, { type, examples, properties: inner, required: needed }]) => [name, {
        type,
        'x-data': name,
        ...examples !== undefined && { examples },
        ...inner !== undefined && named({ properties: inner, ...needed !== undefined && { required: needed } })
      }])
    )
  }
}
