import { type Static, Type } from 'typebox'
import { ProviderCode } from './common.ts'
import { ListedProvider } from './provider-list.ts'
import { choosers } from './states.ts'

/** What became of a provider when one was chosen for a step. */
const choiceOutcomes = ['chosen', 'tried', 'not_needed', 'not_chosen', 'unsupported', 'unusable'] as const

const { weight, after } = ListedProvider.properties

const ConsideredProvider = Type.Object({
  providerName: ProviderCode,
  outcome: Type.Enum(choiceOutcomes, {
    description: 'chosen: the step is its. tried: it surely did not send it, and another of the list has the step now. not_needed: it ' +
      'comes later in the list. not_chosen: as far as is known it could do the step, and the choice names another. unsupported: it ' +
      'cannot do this request. unusable: it is not installed, not configured, not connected, or lacks something, or its check does ' +
      'not answer.'
  }),
  reason: Type.String({ description: 'In one sentence, why.' }),
  weight,
  after
}, { title: 'ConsideredProvider' })
export type ConsideredProvider = Static<typeof ConsideredProvider>

/** Why each step of a dispatch has its provider, and why others were passed over. */
export const ChoicesView = Type.Object({
  steps: Type.Array(Type.Object({
    service: Type.String(),
    chosenBy: Type.Union([Type.Enum(choosers), Type.Null()], { description: 'null: the service needs no provider.' }),
    providers: Type.Array(ConsideredProvider, {
      description: 'The list of the step in its order, then those that were tried, and all others that offer the service.'
    })
  }), { description: 'In the order of the steps of the dispatch.' }),
  settingsChangedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When a default or a configuration that matters here was last changed since the dispatch was planned. What is told of ' +
      'not_chosen, unsupported and unusable is as of now, and may have been otherwise then. What operators change of the providers ' +
      'themselves, such as their versions, is not counted.'
  })
}, { title: 'DispatchChoices' })
export type ChoicesView = Static<typeof ChoicesView>
