import '../support/deep.ts';
import './agents-sdk.test.ts';
