// Nobody is signed in: what terminals kept in this tab goes.

import { forget } from "./terminalkept.js";

forget();
