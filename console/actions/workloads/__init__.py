"""Actions on workloads. Kinds use them from this package: `workloads.Restart()`."""

from console.actions.workloads.autoscaling import Autoscale as Autoscale
from console.actions.workloads.base import AVAILABLE as AVAILABLE
from console.actions.workloads.base import OF_PODS as OF_PODS
from console.actions.workloads.base import READY as READY
from console.actions.workloads.base import RUN as RUN
from console.actions.workloads.base import SPEC_NAMES as SPEC_NAMES
from console.actions.workloads.base import TEMPLATE as TEMPLATE
from console.actions.workloads.base import UPDATED as UPDATED
from console.actions.workloads.base import WorkloadKind as WorkloadKind
from console.actions.workloads.rollbacks import RollBackDeployment as RollBackDeployment
from console.actions.workloads.rollbacks import RollBackSet as RollBackSet
from console.actions.workloads.rollouts import Pause as Pause
from console.actions.workloads.rollouts import Restart as Restart
from console.actions.workloads.rollouts import Resume as Resume
from console.actions.workloads.runs import RunNow as RunNow
from console.actions.workloads.runs import Suspend as Suspend
from console.actions.workloads.runs import Unsuspend as Unsuspend
from console.actions.workloads.scaling import Scale as Scale
from console.actions.workloads.sections import EditEnvironment as EditEnvironment
from console.actions.workloads.sections import EditProbes as EditProbes
from console.actions.workloads.sections import EditStrategy as EditStrategy
from console.actions.workloads.sections import EditVolumes as EditVolumes
from console.actions.workloads.sections import SetImage as SetImage
from console.actions.workloads.sections import SetResources as SetResources
