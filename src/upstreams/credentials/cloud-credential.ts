/** Keys with which requests to AWS are signed. */
export type AwsKeys = {
  readonly kind: 'aws-keys';
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present with temporary keys. */
  readonly sessionToken?: string;
};

/** A token that is sent as `Authorization: Bearer`. */
type BearerToken = { readonly kind: 'bearer'; readonly token: string };

/** A short-lived credential of a cloud. */
export type CloudCredential = AwsKeys | BearerToken;
