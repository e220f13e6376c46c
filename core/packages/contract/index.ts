/** What clients of the API see: schemas of requests and answers, the one table of errors, the states, the versions. */
export { AccountEmail, AuditQuery, AuditView, BalanceView, CompanyChanges, CompanyView, CreditsBody, LimitsView, NewCompanyBody,
  NewPassword, NewPasswordAccount, NewUserBody, PasswordBody, type Role, RoleName, SettingsBody, SettingsView, UsableServices, UserChanges,
  UserDetail, UserView } from './accounts.ts'
export { Login, LoginResponse } from './auth.ts'
export { BatchView } from './batches.ts'
export { EndpointCallbackQuery, EndpointChanges, EndpointTest, EndpointView, Endpoints, NewEndpointBody, NewEndpointView, ResendBody,
  Resent, TestCallback, longestPause, testType } from './callback-endpoints.ts'
export { AlertCallback, ReceivedCallback, receivedTypes, ApprovalCallback, ApprovalFacts, type AttemptOutcome, BatchCallback,
  BudgetCallback, CallbackSecrets, type CallbackState, type CallbackType, CallbackView, CompanyCallback, DispatchCallback, EndpointCallback,
  type EndpointType, NewCallbackSecret, ToldApproval, alertKinds, alertTypes, approvalTypes, callbackTypes, endpointTypes, isBatchType,
  sinceOf, notifiedStatuses } from './callbacks.ts'
export { ChoicesView, type ConsideredProvider } from './choices.ts'
export { AnyJson, AnyJsonObject, CallbackUrl, Metadata, ProblemSchema, ProviderCode, Timestamp } from './common.ts'
export { type DeliveryMark, type DeliveryService, type DeliveryStatus, type RecipientsService, canTransition, deferringServices,
  deliveryMarks, deliveryMarksOf, deliveryServices, deliveryStatuses, deliveryStatusesOf, eventBeforeDocument, hasOwnDocument,
  hasRecipients, isDeferringService, isDeliveryMark, isDeliveryService, isFinalDeliveryStatus, originsOf, parseDeliveryEvent, refusalOf,
  returningServices, reportsDelivery, unexpectedAfter } from './delivery.ts'
export { CompanyDomains } from './domains.ts'
export { DispatchError, type ErrorWord, type RateLimitStatus, errorReasons, errorRow, errorTable, presentable, refusal, type ErrorReason,
  problemIn, usualStepErrors, wordIn } from './errors.ts'
export { type KeyMode, type KeyScope, keyModes, keyScopes, usualScopes } from './key-scopes.ts'
export { ImpersonationBody, KeyQuery, KeyView, NewKeyBody, NewKeyView } from './keys.ts'
export { LinkMailBody, LinkMailView, MailLanguage } from './link-mail.ts'
export { NoticeView } from './notices.ts'
export { ListedProvider } from './provider-list.ts'
export { ChoiceBody, ConfigurationBody, DispatchQuery, EarlierDispatchQuery, HoldQuery, IdempotencyHeaders, PageLimit, PageQuery,
  PlatformSearchQuery, ReleaseBody, ResolveBody, SuggestionsBody, UuidPageQuery } from './query.ts'
export { type RecipientReport, recipientLists, sendStatus } from './recipients.ts'
export { LogCountView, RequestQuery, RequestView, type StatusClass, statusClasses } from './requests.ts'
export { ChainResponse, CheckView, ConfigurationView, CreditsView, DispatchRequestView, DispatchResponse, DispatchView, DryRunView,
  ErrorBody, EventView, FoundDispatchView, GeneratedDocument, GuideLanguage, GuideView, HealthView, HoldView, MyConfig, NewPublisher,
  Nothing, PartialDispatch, ProcessView, ProviderResponse, ProviderView, QueueView, QueuedResponse, ReleaseView, StepResult,
  SuggestionsView, ValidationResponse, VendorCallView, ProblemReason, WaitingView, page } from './response.ts'
export { type Retention, retentionInEffect } from './retention.ts'
export { type SaidLater, SayingBody, type SayingState, SayingView, SayingsView, sayingNames } from './sayings.ts'
export { type RequestedSchedule, ScheduleBody, scheduleFields } from './schedule.ts'
export { Code, ProofBody, RecoveryCodesView, SecondFactorView } from './second-factor.ts'
export { SessionView } from './sessions.ts'
export { type SpanName, type Spans, spanChannel, within } from './spans.ts'
export { type ChosenBy, type ConfiguredBy, type DeferredState, type DispatchStatus, type EventKind, type Mode, type StepStatus,
  dispatchStatuses, eventKinds, searchedStepStatuses } from './states.ts'
export { StatisticsQuery, StatisticsView } from './statistics.ts'
export { ApiVersion, type Version, isSince, laterField, latestVersion, usualVersion, versionNames, versionOf,
  versions } from './versions.ts'
export { type ServicePath, chainBeginners, chainFault, chainFollowers, chains, isPath, longestChain } from './request/chains.ts'
export { type Window, dueAt, dueMoment, openFrom, zonesOf } from './request/due.ts'
export { clientPointerOf, providerRequestOf } from './request/provider-request.ts'
export { documentedChain, documentedRequest } from './request/request-document.ts'
export { RetryBody, capital, requestSchema, retrySchema } from './request/request-schema.ts'
export { type DispatchRequest, type RequestStep, type Stated, createRequestReader } from './request/request.ts'
export { createUploadReader } from './request/upload-fields.ts'
