"""Lists of objects: columns, filters, sorting, export.

Kinds use the columns and filters from this package: `lists.TextColumn(id="phase", …)`.
"""

from console.ui.lists.columns import ANY_KIND as ANY_KIND
from console.ui.lists.columns import BY_KIND as BY_KIND
from console.ui.lists.columns import AgeColumn as AgeColumn
from console.ui.lists.columns import BoolColumn as BoolColumn
from console.ui.lists.columns import ContainersColumn as ContainersColumn
from console.ui.lists.columns import DurationColumn as DurationColumn
from console.ui.lists.columns import ElapsedColumn as ElapsedColumn
from console.ui.lists.columns import ImagesColumn as ImagesColumn
from console.ui.lists.columns import IpColumn as IpColumn
from console.ui.lists.columns import LinkColumn as LinkColumn
from console.ui.lists.columns import LinkTarget as LinkTarget
from console.ui.lists.columns import ListColumn as ListColumn
from console.ui.lists.columns import NameColumn as NameColumn
from console.ui.lists.columns import NamespaceColumn as NamespaceColumn
from console.ui.lists.columns import NumberColumn as NumberColumn
from console.ui.lists.columns import OwnerColumn as OwnerColumn
from console.ui.lists.columns import PercentColumn as PercentColumn
from console.ui.lists.columns import QuantityColumn as QuantityColumn
from console.ui.lists.columns import RatioColumn as RatioColumn
from console.ui.lists.columns import SelectorColumn as SelectorColumn
from console.ui.lists.columns import StatusColumn as StatusColumn
from console.ui.lists.columns import TextColumn as TextColumn
from console.ui.lists.columns import UsageColumn as UsageColumn
from console.ui.lists.columns import WordColumn as WordColumn
from console.ui.lists.columns import target_of as target_of
from console.ui.lists.filters import IMAGE as IMAGE
from console.ui.lists.filters import OWNER as OWNER
from console.ui.lists.filters import STATE as STATE
from console.ui.lists.filters import USES as USES
from console.ui.lists.filters import ChoiceFilter as ChoiceFilter
from console.ui.lists.filters import FieldFilter as FieldFilter
from console.ui.lists.filters import SearchFilter as SearchFilter
from console.ui.lists.filters import reference_values as reference_values
